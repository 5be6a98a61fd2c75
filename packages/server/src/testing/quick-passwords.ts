/**
 * Hashes passwords at the lowest cost: servers of tests are started a thousand times. Verification uses the
 * cost of the stored hash. `accounts/passwords.test.ts` and servers in their own processes use the real cost.
 */
const { hash } = Bun.password;
const COST = { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 } as const;

export function hashQuickly(): void {
  Bun.password.hash = (password) => hash(password, COST);
}

/** Returns a function that restores what was set before. */
export function hashAtRealCost(): () => void {
  const before = Bun.password.hash;
  Bun.password.hash = hash;
  return () => {
    Bun.password.hash = before;
  };
}
