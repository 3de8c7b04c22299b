-- SPDX-License-Identifier: MIT
-- Hooked coroutines that are collected, suspended, running and dead, and finalizers beside them.
local finalized = 0
local function guard() return setmetatable({}, {__gc = function() finalized = finalized + 1 end}) end

local function hooked(mask)
	local co = coroutine.create(function(held)
		local kept = held
		while true do coroutine.yield(kept ~= nil) end
	end)
	debug.sethook(co, function() end, mask, 1)
	return co
end

for round = 1, 5 do
	for _, mask in ipairs {"c", "r", "l", "crl"} do
		for _ = 1, 10 do
			coroutine.resume(hooked(mask), guard())
		end
		hooked(mask)
	end
	collectgarbage()
	collectgarbage()
	print("round", round, finalized)
end

-- Main has a hook while they are made (they inherit it) and while they are collected.
local events = {}
debug.sethook(function(event) events[event] = (events[event] or 0) + 1 end, "cr")
local list = {}
for i = 1, 20 do list[i] = coroutine.wrap(function() coroutine.yield(i) return guard() end) end
for i = 1, 20, 2 do list[i]() end
list = nil
collectgarbage()
collectgarbage()
debug.sethook()
print("events", events.call, events["return"], events["tail call"])

-- A finalizer that sets a hook, and one that removes it.
local seen = 0
setmetatable({}, {__gc = function() debug.sethook(function() seen = seen + 1 end, "l") end})
collectgarbage()
local x = 1
x = x + 1
setmetatable({}, {__gc = function() debug.sethook() end})
collectgarbage()
x = x + 1
print("finalizers", seen, (debug.gethook()), finalized)

-- Left for the closing of the state: hooks on main, on a suspended thread, and in a finalizer.
kept_thread = hooked("l")
coroutine.resume(kept_thread, guard())
kept_guard = setmetatable({}, {__gc = function()
	print("closing", type((debug.gethook())), type((debug.gethook(kept_thread))))
	debug.sethook(print, "c")
end})
debug.sethook(function() end, "c", 1000)
