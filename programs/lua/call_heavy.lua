-- SPDX-License-Identifier: MIT
-- A script that spends its time in calls, for counting what a call and an instruction of Lua cost.
-- It does the same work in every run: no clock, no random number, no address.
-- Its argument says how often; once is some 60 million instructions.

-- Calls of Lua functions by Lua functions.
local function fib(n)
	if n < 2 then return n end
	return fib(n - 1) + fib(n - 2)
end

-- Methods, found through a metatable.
local Account = {}
Account.__index = Account

function Account.new(balance) return setmetatable({balance = balance}, Account) end
function Account:deposit(amount) self.balance = self.balance + amount end
function Account:get() return self.balance end

local function methods(count)
	local account = Account.new(0)
	for i = 1, count do
		account:deposit(i)
	end
	return account:get()
end

-- Closures, called through an upvalue.
local function counter()
	local value = 0
	return function() value = value + 1; return value end
end

local function closures(count)
	local next_value, sum = counter(), 0
	for _ = 1, count do
		sum = sum + next_value()
	end
	return sum
end

-- C functions.
local function c_functions(count)
	local max, byte, sum = math.max, string.byte, 0
	for i = 1, count do
		sum = sum + max(i % 7, i % 5) + byte("dormant", i % 7 + 1)
	end
	return sum
end

for _ = 1, tonumber(arg and arg[1]) or 1 do
	print(fib(23), methods(15000), closures(20000), c_functions(10000))
end
