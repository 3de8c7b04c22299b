-- SPDX-License-Identifier: MIT
-- Line hooks: loops, branches, calls, returns into the middle of a line, goto, several chunks.
local trace = {}
local function tracer(event, line)
	trace[#trace + 1] = line
	assert(event == "line")
	assert(debug.getinfo(2, "l").currentline == line)
end

local function report(name)
	print(name, #trace, table.concat(trace, " "))
	trace = {}
end

local function traced(name, f, ...)
	debug.sethook(tracer, "l")
	f(...)
	debug.sethook()
	report(name)
end

traced("empty", function() end)
traced("loop", function()
	for i = 1, 3 do
		local x = i
	end
end)
traced("one line loop", function() for i = 1, 3 do local x = i end end)
traced("while", function()
	local i = 0
	while i < 3 do
		i = i + 1
		if i == 2 then
			i = i + 0
		else
			i = i * 1
		end
	end
end)
traced("repeat", function()
	local i = 0
	repeat
		i = i + 1
	until i >= 3
end)
traced("goto", function()
	local i = 0
	::again::
	i = i + 1
	if i < 3 then goto again end
end)

local function inner(x)
	return x +
		1
end
traced("calls", function()
	local a = inner(1)
	local b = inner(
		inner(2))
	return inner(a) +
		inner(b)
end)
traced("tail call", function()
	return inner(3)
end)
traced("recursion", function(n)
	local function down(k)
		if k == 0 then return 0 end
		return 1 + down(k - 1)
	end
	down(3)
end)
traced("metamethods", function()
	local t = setmetatable({}, {
		__index = function(_, k)
			return k
		end,
		__add = function()
			return 7
		end,
	})
	local _ = t.x
	_ = t + t
end)
traced("protected", function()
	pcall(function()
		local x
		x = x.y
	end)
	pcall(error, "e")
end)
traced("sort", function()
	table.sort({3, 1, 2}, function(a, b)
		return a < b
	end)
end)
traced("loaded", load("local x = 1\n\n\nx = 2\nfor i = 1, 2 do\n  x = i\nend\n", "=chunk"))
traced("iterator", function()
	for _, v in ipairs {1, 2} do
		local x = v
	end
end)
