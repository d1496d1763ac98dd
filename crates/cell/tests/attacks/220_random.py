# name: random
# class: allowed
# tries: seeded random numbers, hashes, secrets and identifiers
# expected: the seeded ones are the same everywhere, the others differ between cells
# outcome: ok
# after: differs-between-cells
# oracle: inband
# prints: 0.13436424411240122 5d41402abc4b2a76b9719d911017c592
import hashlib, random, secrets, uuid
random.seed(1)
print(random.random(), hashlib.md5(b"hello").hexdigest())
print("DIFFER token", secrets.token_hex(8)); print("DIFFER id", uuid.uuid4())
try:
    import numpy as np
    print("DIFFER legacy", np.random.random()); print("DIFFER generator", np.random.default_rng().random())
except ImportError: pass
