-- SPDX-License-Identifier: MIT
-- Call, tail call and return hooks: Lua and C functions, results of every number, metamethods.
local trace = {}
local function name_of()
	local info = debug.getinfo(3, "nSl")
	return (info.name or "?") .. ":" .. info.what .. ":" .. info.currentline
end
local function tracer(event)
	trace[#trace + 1] = event .. " " .. name_of()
end

local function traced(name, mask, f)
	debug.sethook(tracer, mask)
	local results = table.pack(f())
	debug.sethook()
	print(name, mask, results.n, #trace)
	for _, entry in ipairs(trace) do print("", entry) end
	trace = {}
end

local function none() end
local function one(x) return x end
local function many(...) return ... end
local function tail(x) return one(x) end
local function vararg(...)
	local a, b = ...
	return select("#", ...), a, b
end

for _, mask in ipairs {"c", "r", "cr"} do
	traced("none", mask, function() none() end)
	traced("results", mask, function()
		local a, b, c = many(1, 2)
		local d = many()
		local t = {many(1, 2, 3, 4, 5)}
		return a, b, c, d, #t, many(6, 7, 8)
	end)
	traced("tail", mask, function() return tail(1) end)
	traced("long tail", mask, function()
		local function loop(n) if n == 0 then return "end" end return loop(n - 1) end
		return loop(3)
	end)
	traced("vararg", mask, function() return vararg(1, nil, 3) end)
	traced("c functions", mask, function()
		local x = math.max(1, 2)
		return string.rep("x", 2), select("#", 1, 2), x
	end)
	traced("c calls lua", mask, function()
		local sorted = {2, 1}
		table.sort(sorted, function(a, b) return a < b end)
		return string.gsub("ab", "%a", function(c) return c:upper() end)
	end)
	traced("metamethods", mask, function()
		local callable = setmetatable({}, {
			__call = function(_, x) return x end,
			__index = function(_, k) return k end,
			__concat = function() return "joined" end,
			__eq = function() return true end,
			__lt = function() return false end,
		})
		return callable(1), callable.key, callable .. "x", callable < callable
	end)
	traced("errors", mask, function()
		local ok, message = pcall(function() error("e", 0) end)
		return ok, message, select(2, xpcall(error, function(m) return m end, "f"))
	end)
	traced("iterator", mask, function()
		local count = 0
		for _ in pairs({1, 2}) do count = count + 1 end
		for _ in string.gmatch("a b", "%a") do count = count + 1 end
		return count
	end)
end
