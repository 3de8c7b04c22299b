// SPDX-License-Identifier: MIT
/*
 * What immediate values and static calls must take in C++, from C++11 on; what C has as well is in
 * use_operands.c.
 */
#include <string>

#include <dormant/batch.h>

namespace use
{
enum class mode : unsigned char { slow, fast };
struct node {
	node *next;
	int number;
};
class owner
{
      public:
	explicit owner(int number) : number_(number)
	{
	}
	owner(owner &&) = default;
	owner(const owner &) = delete;
	int number() const
	{
		return number_;
	}

      private:
	int number_;
};
struct constants {
	static const int number = 3;
};

DEFINE_IMV(mode, shared_mode) = mode::fast;
DEFINE_IMV(node *, table) = nullptr;
DEFINE_IMV(int (*)(int), callback) = nullptr;
namespace
{
DEFINE_IMV(int, local) = 5;

int references(int &count, const std::string &text, std::string &&moved)
{
	return ++count + static_cast<int>(text.size() + moved.size());
}
int by_value(std::string text, owner from)
{
	return static_cast<int>(text.size()) + from.number();
}
int enumerations(mode kind, const node *at, std::nullptr_t)
{
	return static_cast<int>(kind) + (at ? at->number : 0);
}
int overloaded(int a)
{
	return a;
}
int overloaded(double a)
{
	return static_cast<int>(a);
}
int quiet(int a, long b) noexcept
{
	return a + static_cast<int>(b);
}
__attribute__((noreturn)) void leave(int code)
{
	throw code;
}
node *chain(node *from)
{
	return from->next;
}
int callbacks(int (*function)(int), int a)
{
	return function(a);
}

DEFINE_STATIC_CALL(call_references, references);
DEFINE_STATIC_CALL(call_by_value, by_value);
DEFINE_STATIC_CALL(call_enumerations, enumerations);
DEFINE_STATIC_CALL(call_overloaded, static_cast<int (*)(int)>(overloaded));
DEFINE_STATIC_CALL(call_other_overload, static_cast<int (*)(double)>(overloaded));
DEFINE_STATIC_CALL(call_quiet, quiet);
DEFINE_STATIC_CALL(call_leave, leave);
DEFINE_STATIC_CALL(call_chain, chain);
DEFINE_STATIC_CALL(call_callbacks, callbacks);
DEFINE_STATIC_CALL_NULL(call_null, quiet);
} // namespace

template <class T> T of_type(T a)
{
	return static_cast<T>(static_call(call_quiet)(static_cast<int>(a), imv_read(local)));
}
template <int N> struct of_number {
	static int sum(int a)
	{
		return static_call(call_quiet)(a, N) + static_cast<int>(imv_read(shared_mode));
	}
};

int calls(int a, node *from);
int calls(int a, node *from)
{
	std::string text = "abc";
	int sum = static_call(call_references)(a, text, "def");
	auto lambda = [&](int b) { return static_call(call_quiet)(b, imv_read(local)); };

	sum += static_call(call_references)(a, "abc", std::move(text));
	sum += static_call(call_by_value)("abc", owner(3));
	sum += static_call(call_enumerations)(mode::fast, nullptr, nullptr);
	sum += static_call(call_overloaded)(a) + static_call(call_other_overload)(a);
	sum += static_call(call_quiet)(constants::number, a) + static_call(call_quiet)(true, 'c');
	sum += static_call(call_chain)(from)->number + static_call(call_callbacks)(overloaded, 3);
	sum += lambda(3) + of_type<int>(1) + static_cast<int>(of_type<long>(2)) +
	       of_number<3>::sum(a);
	static_call_cond(call_null)(1, 2);
	if (sum == 7)
		static_call(call_leave)(1);
	return sum;
}

int changes();
int changes()
{
	return imv_set(shared_mode, mode::slow) | imv_set(table, nullptr) |
	       imv_set(callback, overloaded) | imv_set(local, 3) |
	       static_call_update(call_overloaded, overloaded) |
	       static_call_update(call_quiet, quiet) | static_call_update(call_null, nullptr) |
	       (static_call_query(call_quiet) == quiet);
}

#if __cplusplus >= 201703L
template <class T> int sized(T a)
{
	if constexpr (sizeof(a) > 4)
		return static_call(call_quiet)(1, a);
	else
		return static_call(call_quiet)(a, imv_read(local));
}
template int sized<int>(int);
template int sized<long>(long);
#endif
} // namespace use
