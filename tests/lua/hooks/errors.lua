-- SPDX-License-Identifier: MIT
-- Errors raised in hooks of every kind, caught at every distance; the hook stays or is removed.
local function attempt(name, mask, period, f)
	local calls = 0
	local results = table.pack(pcall(function()
		debug.sethook(function(event, line)
			calls = calls + 1
			if calls == 4 then error("from " .. event .. " " .. tostring(line)) end
		end, mask, period)
		local first, second = f()
		debug.sethook()
		return first, second
	end))
	local hook, now, count = debug.gethook()
	debug.sethook()
	print(name, results.n, tostring(results[1]), tostring(results[2]), type(hook), now, count)
end

local function leaf() return 1 end
local function body()
	local sum = 0
	for _ = 1, 10 do
		sum = sum + leaf()
	end
	return sum
end

for _, mask in ipairs {"c", "r", "l", "crl"} do
	attempt("plain", mask, 0, body)
	attempt("nested", mask, 0, function() return pcall(pcall, body) end)
	attempt("coroutine", mask, 0, function() return coroutine.wrap(body)() end)
	attempt("sorting", mask, 0, function()
		table.sort({5, 4, 3, 2, 1}, function(a, b) return a < b end)
	end)
end
attempt("count", "", 3, body)

-- An error that is not a string, and one in the message handler while the hook is on.
local ok, object = pcall(function()
	debug.sethook(function() debug.sethook(); error({code = 7}) end, "l")
	return body()
end)
print("object", ok, type(object), object.code, (debug.gethook()))
print("handler", xpcall(function()
	debug.sethook(function() error("in hook") end, "", 2)
	return body()
end, function(message)
	debug.sethook()
	return "handled: " .. tostring(message)
end))

-- After a hook's error further hooks run: nothing is left disabled.
local after = 0
print("once", pcall(function()
	debug.sethook(function()
		after = after + 1
		if after == 1 then error("x") end
	end, "c")
	leaf()
end))
leaf()
debug.sethook()
print("after", after)

-- Stack overflow with a hook on.
local deep = 0
debug.sethook(function() deep = deep + 1 end, "c")
local function overflow() return 1 + overflow() end
local overflow_ok, overflow_message = pcall(overflow)
debug.sethook()
print("overflow", overflow_ok, overflow_message:match("stack overflow"), deep > 1000)
