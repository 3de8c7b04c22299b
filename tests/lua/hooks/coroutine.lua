-- SPDX-License-Identifier: MIT
-- Hooks and coroutines: inherited, set on one only, switched while it sleeps, wrapped, dead.
local function show(name, thread)
	local hook, mask, count
	if thread then
		hook, mask, count = debug.gethook(thread)
	else
		hook, mask, count = debug.gethook()
	end
	print(name, type(hook), mask, count)
end

local function generator(n)
	for i = 1, n do
		coroutine.yield(i)
	end
	return "done"
end

-- Inherited from the creator at creation; Lua has no function for it in a thread it did not hook.
local events = 0
debug.sethook(function() events = events + 1 end, "l")
local child = coroutine.create(generator)
debug.sethook()
show("main after off")
show("child", child)
print("resume", coroutine.resume(child, 3))
print("events", events)

-- Set on one coroutine only.
local lines = {}
local hooked = coroutine.create(generator)
local plain = coroutine.create(generator)
debug.sethook(hooked, function(_, line) lines[#lines + 1] = line end, "l")
show("hooked", hooked)
show("plain", plain)
for _ = 1, 5 do
	print(coroutine.resume(plain, 3))
	print(coroutine.resume(hooked, 3))
end
print("lines", table.concat(lines, " "))
show("hooked, dead", hooked)

-- Switched on and off while it sleeps.
local seen = {}
local sleeper = coroutine.create(generator)
for round = 1, 6 do
	if round % 2 == 0 then
		debug.sethook(sleeper, function(event, line) seen[#seen + 1] = round .. event .. (line or "") end,
			"crl")
	else
		debug.sethook(sleeper)
	end
	print("round", round, coroutine.resume(sleeper, 5))
end
print("seen", table.concat(seen, " "))

-- Resumed inside a hook; wrapped; a hook that runs a coroutine of its own.
local trail = {}
local wrapped = coroutine.wrap(generator)
debug.sethook(function()
	trail[#trail + 1] = coroutine.wrap(function() return coroutine.isyieldable() end)()
end, "c")
print(wrapped(2), wrapped(2), wrapped(2))
debug.sethook()
print("trail", #trail, tostring(trail[1]))

-- Nested coroutines, hooked at every second level.
local depth_events = {}
local function nest(depth)
	if depth == 0 then return 0 end
	local co = coroutine.create(nest)
	if depth % 2 == 0 then
		debug.sethook(co, function(event)
			depth_events[depth] = (depth_events[depth] or 0) + 1
		end, "cr")
	end
	local _, below = coroutine.resume(co, depth - 1)
	return below + 1
end
print("nest", nest(6))
for depth = 1, 6 do print("", depth, depth_events[depth]) end

-- An error kills a hooked coroutine; its hook is still there to be asked for.
local dying = coroutine.create(function() error("dies") end)
debug.sethook(dying, print, "r")
print(coroutine.resume(dying))
show("dying", dying)
show("main")
