/** API keys and tokens that two clients use at all nodes while they are revoked at one of them. */
import type { ServerProcess } from '../../server-process.ts';
import { postJson } from '../../server-process.ts';
import { type RunContext, retryAfterKills } from '../client.ts';
import { completedBy } from '../history.ts';
import type { Random } from '../random.ts';

type Credential = { readonly kind: 'key' | 'token'; readonly id: string; readonly secret: string };

const USERS = ['user 1', 'user 2'] as const;
const PAUSE_MS = 50;
/** How long it is used after its revocation. */
const AFTERWARDS_MS = 300;

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

export async function credentialScene(run: RunContext, random: Random): Promise<void> {
  for (let count = 1; !run.stopping; count++) {
    // A login takes much more processor time.
    const kind = random.chance(0.2) ? 'token' : 'key';
    const credential = await issued(run, kind, count);
    if (!credential) return;
    let end = Number.POSITIVE_INFINITY;
    const users = USERS.map(async (process) => {
      while (performance.now() < end) {
        await retryAfterKills(process, run, async (server) => {
          await used(run, server, { process, credential });
          return true;
        });
        await Bun.sleep(PAUSE_MS);
      }
    });
    await Bun.sleep(random.between(100, 1_000));
    await retryAfterKills('revoker', run, async (server) => {
      await revoked(run, server, credential);
      return true;
    });
    end = performance.now() + AFTERWARDS_MS;
    await Promise.all(users);
  }
}

/** Null if the server refuses it. */
async function issued(run: RunContext, kind: Credential['kind'], count: number): Promise<Credential | null> {
  let credential: Credential | null = null;
  await retryAfterKills('issuer', run, async ({ http }) => {
    const request =
      kind === 'key'
        ? () => postJson(`${http}/v1/keys`, { name: `key ${count}` }, bearer(run.token))
        : () => postJson(`${http}/v1/auth/login`, { username: 'dev', password: 'dev-password' });
    const idOf = (body: Record<string, unknown>) => (kind === 'key' ? String(body.id) : `token ${count}`);
    const { status, body } = await run.ledger.history.run(
      { process: 'issuer', operation: 'credential.issue', arguments: { kind } },
      request,
      completedBy((answer) => ({ credential: idOf(answer) })),
    );
    if (status >= 300) throw new Error(`a ${kind} was refused with ${status}: ${JSON.stringify(body)}`);
    credential = { kind, id: idOf(body), secret: String(kind === 'key' ? body.key : body.access_token) };
    return true;
  });
  return credential;
}

async function used(
  { ledger }: RunContext,
  { http }: ServerProcess,
  { process, credential: { id, secret } }: { process: string; credential: Credential },
): Promise<void> {
  await ledger.history.run(
    { process, operation: 'credential.use', arguments: { credential: id } },
    async () => {
      const { status } = await fetch(`${http}/v1/server`, { headers: bearer(secret) });
      if (status >= 500) throw new Error(`a credential was answered ${status}`);
      return { status, body: {} };
    },
    completedBy(() => ({})),
  );
}

/** Done if it is unknown: an earlier attempt without an answer has revoked it. */
async function revoked(
  { ledger, token }: RunContext,
  { http }: ServerProcess,
  { kind, id, secret }: Credential,
): Promise<void> {
  const request = () =>
    kind === 'key'
      ? fetch(`${http}/v1/keys/${id}`, { method: 'DELETE', headers: bearer(token) })
      : fetch(`${http}/v1/auth/logout`, { method: 'POST', headers: bearer(secret) });
  await ledger.history.run(
    { process: 'revoker', operation: 'credential.revoke', arguments: { credential: id } },
    async () => {
      const { status } = await request();
      if (status >= 500) throw new Error(`a revocation was answered ${status}`);
      return { status, body: {} };
    },
    completedBy(() => ({})),
  );
}
