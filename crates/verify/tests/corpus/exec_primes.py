import math

limit = 1000
sieve = bytearray([1]) * (limit + 1)
sieve[0:2] = b"\x00\x00"
for number in range(2, math.isqrt(limit) + 1):
    if sieve[number]:
        sieve[number * number :: number] = bytes(len(range(number * number, limit + 1, number)))
print([number for number, is_prime in enumerate(sieve) if is_prime][:10])
