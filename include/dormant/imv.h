/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Immediate values: variables that are read from the instruction stream. Reading costs one `mov` of
 * a constant: no load, no cache line.
 *
 *     #include <dormant/imv.h>
 *
 *     DEFINE_IMV(unsigned, limit) = 100;
 *
 *     bool is_long(size_t n) { return n > imv_read(limit); }
 *
 *     int set_limit(unsigned n) { return imv_set(limit, n); }
 *
 * Link with -ldormant. The names are those of the immediate values proposed for the kernel in 2007.
 *
 * The type is an integer, an enumeration, bool, a pointer, float or double: 1, 2, 4 or 8 bytes.
 *
 * What is promised:
 *
 *  1. A read gives a value that was set (or the initial one), never a mixture of two.
 *  2. When imv_set() has returned 0, every read that starts after the return, on any thread, gives
 *     the new value. While it runs, a read gives the old or the new one, and one site may give the
 *     old after another gave the new: code that checks and then uses a value reads it once.
 *  3. A read may stand anywhere: in constructors, before the library has seen its object, and in
 *     signal handlers. It orders nothing else: it is a relaxed read.
 *  4. Sites in an object that is loaded later start with the current value.
 *  5. All that static_key.h promises of threads, signals, fork and errors. While a value is set and
 *     other threads run, its pages may be writable and executable for the moment of the store (by
 *     the writer mprotect); under PR_SET_MDWE they are replaced by a copy (by remap).
 *
 * In the file, and wherever text can not be changed by one store of more than a byte (only proc_mem
 * is permitted, and there are threads), a site loads the variable. That is right at any time: then
 * imv_set() is a store. With -DDORMANT_NO_PATCHING it is all there is.
 *
 * How a site changes, and why so, is described in doc/architecture.md.
 */
#ifndef DORMANT_IMV_H
#define DORMANT_IMV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dormant/arch.h>
#include <dormant/error.h>
#include <dormant/object.h>
#include <dormant/operand.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Declares an immediate value that another file defines, with the type that it has there. */
#define DECLARE_IMV(type, name) extern __typeof__(type) name##__imv

/** Defines one; an initialiser may follow: `DEFINE_IMV(int, depth) = 4;`. Its name is global:
 * `static` does not stand before it. The variable is called NAME__imv. */
#define DEFINE_IMV(type, name)    \
	DECLARE_IMV(type, name);  \
	DORMANT_IMV_ENTRY_(name); \
	__typeof__(type) name##__imv __attribute__((aligned(8)))

#ifndef __cplusplus
/** The same, for this file only. In C++, write DEFINE_IMV in an unnamed namespace. */
#define DEFINE_STATIC_IMV(type, name)        \
	static __typeof__(type) name##__imv; \
	DORMANT_IMV_ENTRY_(name);            \
	static __typeof__(type) name##__imv __attribute__((aligned(8)))
#endif

/** The value, from the instruction stream. */
#define imv_read(name) DORMANT_IMV_READ_(name##__imv, #name)

/** The value, from memory: it changes when a patch is complete. For use outside hot code. */
#define imv_get(name)                                                         \
	__extension__({                                                       \
		__typeof__(name##__imv) dormant_got_;                         \
		__atomic_load(&name##__imv, &dormant_got_, __ATOMIC_ACQUIRE); \
		dormant_got_;                                                 \
	})

/**
 * Sets a value; @p to is converted as by an assignment, and a pointer of another type is an error
 * of the compiler. Returns 0 or a negative errno, as dormant_imv_set() without details of the
 * failure.
 */
#define imv_set(name, to) imv_set_error(name, to, NULL)

/** The same, with a `struct dormant_error *` for details. */
#define imv_set_error(name, to, error)                                                          \
	__extension__({                                                                         \
		DORMANT_IMV_VALUE_(name, to);                                                   \
		dormant_imv_set(&name##__imv, dormant_bits_(&dormant_to_, sizeof(dormant_to_)), \
				sizeof(dormant_to_), error);                                    \
	})

/** One change of a batch, a `struct imv_change`: `struct imv_change c = IMV_CHANGE(limit, 7);` */
#define IMV_CHANGE(name, to)                                                            \
	__extension__({                                                                 \
		DORMANT_IMV_VALUE_(name, to);                                           \
		struct imv_change dormant_change_ = {                                   \
			&name##__imv, dormant_bits_(&dormant_to_, sizeof(dormant_to_)), \
			sizeof(dormant_to_)};                                           \
		dormant_change_;                                                        \
	})

/** One value of a batch; made by IMV_CHANGE(). */
struct imv_change {
	void *imv;     /**< the variable NAME__imv */
	uint64_t bits; /**< the new value's bytes, the first in the lowest */
	size_t bytes;  /**< its size: 1, 2, 4 or 8 */
};

/**
 * Sets the immediate value @p imv to the first @p bytes of @p bits.
 *
 * Units: bytes. Errors: -EINVAL for NULL, or a size that is not that of the definition; -EOPNOTSUPP
 * when sites hold the value in their instruction, other threads run, and no writer here changes
 * more than a byte by one store; else as dormant_static_key_enable(). Nothing is changed then, and
 * @p error says which site and why. Threads: any. Signals: safe. Blocks: on the library's lock.
 * Since: 0.1. Source: imv_set() of the immediate values of 2007; the protocol is ours.
 */
DORMANT_API int dormant_imv_set(void *imv, uint64_t bits, size_t bytes,
				struct dormant_error *error);

/**
 * Sets many values in one patch: all or none. A value may occur several times; the last counts.
 *
 * Units: @p count entries. Errors: as dormant_imv_set(). Threads: any; no other change falls in
 * between. Signals: safe. Blocks: on the library's lock. Since: 0.1. Source: dormant.
 */
DORMANT_API int dormant_imv_batch(const struct imv_change *changes, size_t count,
				  struct dormant_error *error);

/* ---- what the macros are made of ---- */

/* A value's bytes as a number. */
static inline uint64_t dormant_bits_(const void *value, size_t bytes)
{
	uint64_t bits = 0;

	__builtin_memcpy(&bits, value, bytes);
	return bits;
}

#ifdef __cplusplus
} /* extern "C" */
#include <type_traits>
namespace dormant
{
template <class T> struct is_qualified {
	enum { value = 0 };
};
template <class T> struct is_qualified<const T> {
	enum { value = 1 };
};
template <class T> struct is_qualified<volatile T> {
	enum { value = 1 };
};
template <class T> struct is_qualified<const volatile T> {
	enum { value = 1 };
};
template <class T, bool Enum> struct integer_of {
	typedef T type;
};
template <class T> struct integer_of<T, true> : std::underlying_type<T> {
};
template <class T> struct value_class { /* integers and enumerations */
	typedef typename integer_of<T, std::is_enum<T>::value>::type integer;
	enum {
		value = std::is_signed<integer>::value ? DORMANT_KEY_CLASS_SIGNED
						       : DORMANT_KEY_CLASS_UNSIGNED
	};
};
template <> struct value_class<bool> {
	enum { value = DORMANT_KEY_CLASS_BOOL };
};
template <> struct value_class<float> {
	enum { value = DORMANT_KEY_CLASS_FLOAT };
};
template <> struct value_class<double> {
	enum { value = DORMANT_KEY_CLASS_FLOAT };
};
template <class T> struct value_class<T *> {
	enum { value = DORMANT_KEY_CLASS_POINTER };
};
} // namespace dormant
extern "C" {
#define DORMANT_IMV_CLASS_(x)   static_cast<uint32_t>(::dormant::value_class<decltype(x)>::value)
#define DORMANT_IMV_ADDRESS_(x) const_cast<void *>(static_cast<const volatile void *>(&x))
#define DORMANT_IMV_ASSERT_(x)                                                                   \
	static_assert(std::is_scalar<decltype(x)>::value &&                                      \
			      !std::is_member_pointer<decltype(x)>::value,                       \
		      "an immediate value is an integer, enum, bool, pointer, float or double"); \
	static_assert(sizeof(x) == 1 || sizeof(x) == 2 || sizeof(x) == 4 || sizeof(x) == 8,      \
		      "an immediate value has 1, 2, 4 or 8 bytes");                              \
	static_assert(!::dormant::is_qualified<decltype(x)>::value,                              \
		      "an immediate value is not const or volatile")
#define DORMANT_IMV_VALUE_(name, to) decltype(name##__imv) dormant_to_ = (to)
#else
#define DORMANT_IMV_CLASS_(x)                                                                  \
	_Generic((x), _Bool                                                                    \
		 : DORMANT_KEY_CLASS_BOOL, char                                                \
		 : (char)-1 < (char)1 ? DORMANT_KEY_CLASS_SIGNED : DORMANT_KEY_CLASS_UNSIGNED, \
		   signed char                                                                 \
		 : DORMANT_KEY_CLASS_SIGNED, short                                             \
		 : DORMANT_KEY_CLASS_SIGNED, int                                               \
		 : DORMANT_KEY_CLASS_SIGNED, long                                              \
		 : DORMANT_KEY_CLASS_SIGNED, long long                                         \
		 : DORMANT_KEY_CLASS_SIGNED, unsigned char                                     \
		 : DORMANT_KEY_CLASS_UNSIGNED, unsigned short                                  \
		 : DORMANT_KEY_CLASS_UNSIGNED, unsigned                                        \
		 : DORMANT_KEY_CLASS_UNSIGNED, unsigned long                                   \
		 : DORMANT_KEY_CLASS_UNSIGNED, unsigned long long                              \
		 : DORMANT_KEY_CLASS_UNSIGNED, float                                           \
		 : DORMANT_KEY_CLASS_FLOAT, double                                             \
		 : DORMANT_KEY_CLASS_FLOAT, default                                            \
		 : DORMANT_KEY_CLASS_POINTER)
#define DORMANT_IMV_ADDRESS_(x) ((void *)&(x))
#define DORMANT_IMV_ASSERT_(x)                                                                    \
	_Static_assert(                                                                           \
		__builtin_classify_type(x) >= 1 && __builtin_classify_type(x) <= 8 &&             \
			(sizeof(x) == 1 || sizeof(x) == 2 || sizeof(x) == 4 || sizeof(x) == 8),   \
		"an immediate value is an integer, enum, bool, pointer, float or double");        \
	_Static_assert(__builtin_types_compatible_p(__typeof__(x) *, __typeof__(((void)0, x)) *), \
		       "an immediate value is not const, volatile or atomic")
#define DORMANT_IMV_VALUE_(name, to)                \
	DORMANT_STRICT_BEGIN_                       \
	__typeof__(name##__imv) dormant_to_ = (to); \
	DORMANT_STRICT_END_
#endif

#define DORMANT_IMV_ENTRY_(name)                                                                 \
	DORMANT_IMV_ASSERT_(name##__imv);                                                        \
	static const struct dormant_key_entry dormant_imv_entry_##name DORMANT_RETAIN_           \
		__attribute__((section("dormant_keys"), aligned(8))) = {                         \
			DORMANT_IMV_ADDRESS_(name##__imv), #name, 0,                             \
			DORMANT_KEY_FLAGS(DORMANT_KEY_KIND_IMV, DORMANT_IMV_CLASS_(name##__imv), \
					  sizeof(name##__imv))}

#if !DORMANT_PATCHING

#define DORMANT_IMV_READ_(variable, text)                                    \
	__extension__({                                                      \
		__typeof__(variable) dormant_value_;                         \
		__atomic_load(&variable, &dormant_value_, __ATOMIC_RELAXED); \
		dormant_value_;                                              \
	})

#else

#define DORMANT_IMV_ASM_(text, kind, name, output)                                        \
	__asm__ DORMANT_ASM_INLINE_ volatile(text                                         \
					     : DORMANT_VALUE_REGISTER(output)             \
					     : "i"(&DORMANT_OWNER_), "i"(kind), "i"(name) \
					     : "cc")

/* One of the four is kept: the size is a constant. */
#define DORMANT_IMV_READ_(variable, text)                                                          \
	__extension__({                                                                            \
		__typeof__(variable) dormant_value_;                                               \
		DORMANT_DECLARE_OWNER_(&variable);                                                 \
		if (sizeof(dormant_value_) == 8) {                                                 \
			uint64_t dormant_read_;                                                    \
			DORMANT_IMV_ASM_(DORMANT_VALUE8_ASM, DORMANT_OPERAND_VALUE8, text,         \
					 dormant_read_);                                           \
			__builtin_memcpy(&dormant_value_, &dormant_read_, sizeof(dormant_value_)); \
		} else {                                                                           \
			uint32_t dormant_read_;                                                    \
			if (sizeof(dormant_value_) == 4)                                           \
				DORMANT_IMV_ASM_(DORMANT_VALUE_ASM(DORMANT_VALUE4_LOAD),           \
						 DORMANT_OPERAND_VALUE4, text, dormant_read_);     \
			else if (sizeof(dormant_value_) == 2)                                      \
				DORMANT_IMV_ASM_(DORMANT_VALUE_ASM(DORMANT_VALUE2_LOAD),           \
						 DORMANT_OPERAND_VALUE2, text, dormant_read_);     \
			else                                                                       \
				DORMANT_IMV_ASM_(DORMANT_VALUE_ASM(DORMANT_VALUE1_LOAD),           \
						 DORMANT_OPERAND_VALUE1, text, dormant_read_);     \
			__builtin_memcpy(&dormant_value_, &dormant_read_,                          \
					 sizeof(dormant_value_) & 7);                              \
		}                                                                                  \
		dormant_value_;                                                                    \
	})

#endif

#ifdef __cplusplus
}
#endif

#endif
