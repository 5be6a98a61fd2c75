/** An authenticator with API keys on a store in memory, for the tests in this folder. */
import type { Role } from '@parlance/protocol';
import { openApiKeys } from '../../accounts/api-keys.ts';
import { openAuthenticator } from '../../accounts/authenticator.ts';
import type { NewApiKey } from '../../http/api-keys.ts';
import { openMemoryStore } from '../stores/memory/store.ts';

const quiet = () => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

export async function openKeyTest(roles: Readonly<Record<string, Role>> = { ada: 'developer' }) {
  const store = openMemoryStore();
  const reads: string[] = [];
  const clock = { now: 1_800_000_000_000 };
  const now = () => clock.now;
  const setRole = (name: string, role: Role) => store.put({ name, role, passwordHash: 'hash', createdAt: 1 });
  for (const [name, role] of Object.entries(roles)) await setRole(name, role);
  const apiKeys = {
    ...store.apiKeys,
    find(id: string) {
      reads.push(id);
      return store.apiKeys.find(id);
    },
  };
  const authenticator = openAuthenticator({
    users: store,
    apiKeys,
    pairings: store.pairings,
    revocations: store.revocations,
    signIns: store.signIns,
    secret: new Uint8Array(32).fill(7),
    open: true,
    limits: { attempts: 1 },
    log,
    now,
  });
  const keys = openApiKeys({ keys: store.apiKeys, users: store, dialects: ['one', 'two'], now });
  return {
    store,
    authenticator,
    keys,
    clock,
    /** the ids looked up */
    reads,
    setRole,
    make: (owner = 'ada', wanted: Partial<NewApiKey> = {}) => keys.add(owner, { name: 'a key', ...wanted }),
  };
}
