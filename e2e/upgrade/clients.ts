/** Clients that create the sessions of the fixture. */
import type { DurableEvent } from '../../packages/protocol/src/index.ts';
import { TestClient } from '../../packages/server/src/testing/client.ts';
import { followed, postJson } from '../server-process.ts';

export type Caller = {
  readonly http: string;
  readonly headers: Record<string, string>;
  readonly token?: string;
};

export const local = (http: string): Caller => ({ http, headers: {} });

export async function logIn(http: string, name: string): Promise<Caller> {
  const { body } = await postJson(`${http}/v1/auth/login`, { username: name, password: `${name}-password` });
  const token = String(body.access_token);
  return { http, token, headers: { authorization: `Bearer ${token}` } };
}

export async function ask(caller: Caller, path: string, body: object): Promise<Record<string, unknown>> {
  const { status, body: answer } = await postJson(caller.http + path, body, caller.headers);
  if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`);
  return answer;
}

export const send = (caller: Caller, session: string, command: object) =>
  ask(caller, `/v1/sessions/${session}/commands`, command);

export const input = (text: string): { type: string; parts: object[] } => ({
  type: 'input.submit',
  parts: [{ type: 'text', text }],
});

export const say = (caller: Caller, session: string, text: string) => send(caller, session, input(text));

/** Resolves when the session has an event of this type. */
export const until = (caller: Caller, session: string, type: string) =>
  untilCount(caller, session, { type, count: 1 });

/** Resolves when the session has this many events of a type. */
export const untilCount = (
  caller: Caller,
  session: string,
  { type, count }: { type: string; count: number },
) => followed(caller, session, (events) => events.filter((event) => event.type === type).length >= count);

const query = ({ token }: Caller, session: string) =>
  `?session=${session}${token === undefined ? '' : `&token=${token}`}`;

export const connect = (caller: Caller, path: string, session: string): Promise<TestClient> =>
  TestClient.connect(caller.http.replace('http', 'ws') + path + query(caller, session));

/** Resolves when the input is answered. */
export async function turn(caller: Caller, session: string, text: string): Promise<void> {
  const accepted = (await say(caller, session, text)).facts as DurableEvent[];
  const last = accepted.at(-1)?.seq ?? 0;
  await followed(caller, session, (events) =>
    events.some(({ type, seq }) => type === 'turn.ended' && seq > last),
  );
}

export async function get({ http, headers }: Caller, path: string): Promise<unknown> {
  return (await fetch(http + path, { headers })).json();
}

export const events = (caller: Caller, session: string): Promise<unknown> =>
  get(caller, `/v1/sessions/${session}/events?limit=1000`);

/** One request of a copilot client. */
export const interact = async (caller: Caller, request: object): Promise<Record<string, unknown>> => {
  const page = { url: 'https://shop.example/contact', dom: '<form><button id="4">Submit</button></form>' };
  return (await ask(caller, '/api/agent/interact', { ...page, ...request })).data as Record<string, unknown>;
};
