-- SPDX-License-Identifier: MIT
-- Count hooks: of every period, changed while they run, and beside other masks.
local function work(n)
	local sum = 0
	for i = 1, n do
		sum = sum + i % 3
	end
	return sum
end

for _, period in ipairs {1, 2, 3, 7, 100, 1000, 2 ^ 24} do
	local calls, lines = 0, {}
	debug.sethook(function(event)
		calls = calls + 1
		local line = debug.getinfo(2, "l").currentline
		lines[line] = (lines[line] or 0) + 1
		assert(event == "count")
	end, "", period)
	local result = work(500)
	debug.sethook()
	print("period", period, "result", result, "calls", calls)
	for line = 1, 100 do
		if lines[line] then print("", line, lines[line]) end
	end
end

-- The period changes inside the hook.
local seen = {}
local function slower(period)
	return function()
		seen[#seen + 1] = period
		if period < 64 then
			debug.sethook(slower(period * 2), "", period * 2)
		end
	end
end
debug.sethook(slower(1), "", 1)
work(100)
debug.sethook()
print("periods", table.concat(seen, " "))

-- Count and line and call at once.
local events = {}
debug.sethook(function(event) events[event] = (events[event] or 0) + 1 end, "crl", 5)
work(50)
work(50)
debug.sethook()
print("events", events.count, events.line, events.call, events["return"])
