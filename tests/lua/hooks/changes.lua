-- SPDX-License-Identifier: MIT
-- Hooks that remove, replace and ask for themselves, and masks in every combination.
local function work() local x = 0 for i = 1, 4 do x = x + math.abs(i) end return x end

-- Every mask, with and without a count.
for bits = 0, 7 do
	for _, period in ipairs {0, 3} do
		local mask = (bits & 1 ~= 0 and "c" or "") .. (bits & 2 ~= 0 and "r" or "") ..
			(bits & 4 ~= 0 and "l" or "")
		local events = {}
		debug.sethook(function(event) events[#events + 1] = event:sub(1, 2) end, mask, period)
		local _, now, count = debug.gethook()
		work()
		debug.sethook()
		print(mask, period, now, count, #events, table.concat(events, " "))
	end
end

-- A hook that removes itself at its n-th event.
for _, mask in ipairs {"c", "r", "l"} do
	for n = 1, 4 do
		local calls = 0
		debug.sethook(function()
			calls = calls + 1
			if calls == n then debug.sethook() end
		end, mask)
		work()
		work()
		print("removes itself", mask, n, calls, (debug.gethook()))
	end
end

-- A hook that replaces itself, mask and all, in turn.
local trace = {}
local first, second
function first(event)
	trace[#trace + 1] = "1" .. event:sub(1, 2)
	debug.sethook(second, "r")
end
function second(event)
	trace[#trace + 1] = "2" .. event:sub(1, 2)
	debug.sethook(first, "cl", 2)
end
debug.sethook(first, "c")
work()
debug.sethook()
print("replaced", #trace, table.concat(trace, " "))

-- Nested: a hook is not called inside a hook, whatever it sets.
local inside = 0
debug.sethook(function()
	debug.sethook(function() inside = inside + 1 end, "crl", 1)
	work()
end, "l")
work()
debug.sethook()
print("nested", inside)

-- Off when it was off; on with an empty mask; off with a function but no mask.
debug.sethook()
debug.sethook(print, "")
print("empty mask", debug.gethook())
debug.sethook(nil, "crl", 1)
print("no function", debug.gethook())

-- Many times on and off.
local total = 0
for i = 1, 300 do
	debug.sethook(function() total = total + 1 end, i % 2 == 0 and "l" or "c", i % 5)
	work()
	debug.sethook()
	work()
end
print("total", total)

-- A hook that changes locals and gets at the values of the function it interrupts.
local function target()
	local value = 1
	value = value
	return value
end
debug.sethook(function(_, line)
	local name, value = debug.getlocal(2, 1)
	if name == "value" and value == 1 then debug.setlocal(2, 1, "changed") end
end, "l")
local result = target()
debug.sethook()
print("changed", result)
