-- SPDX-License-Identifier: MIT
-- Does what it reads, a word a line, for programs/lua/switch: "on" and "off" set and remove a call hook
-- with debug.sethook, "work" makes some calls and answers how many of them the hook saw.
local seen = 0

local function fib(n)
	if n < 2 then return n end
	return fib(n - 1) + fib(n - 2)
end

local commands = {
	on = function() debug.sethook(function() seen = seen + 1 end, "c") end,
	off = function() debug.sethook() end,
	work = function()
		seen = 0
		fib(20)
		return seen
	end,
}

for line in io.lines() do
	io.write(tostring(commands[line]() or "done"), "\n")
	io.flush()
end
