/**
 * The calls of an app: in a hidden session, with the agent and the approval mode of the chat, that is erased with the app. Rules and
 * approvals apply as to any call, and who looks at the app is asked there.
 */
import type { JsonObject } from '@parlance/protocol';
import type { CallState, LiveView, SessionHandle, SessionView } from '@parlance/sdk';
import { parlance } from '../state/server.ts';
import { store } from '../state/store.ts';

type Ended = Extract<CallState, { phase: 'ended' }>;
type Started = { readonly handle: SessionHandle; readonly live: LiveView };

export class AppCalls {
  readonly #chat: string;
  #started: Promise<Started> | null = null;
  #isClosed = false;
  /** the session, from the first call on */
  readonly session = store<Started | null>(null);

  /** `chat`: the session whose call has the app. */
  constructor(chat: string) {
    this.#chat = chat;
  }

  /** Resolves with its outcome, however long somebody thinks about an approval. */
  async call(tool: string, input: JsonObject): Promise<Ended> {
    this.#started ??= this.#start();
    const { handle, live } = await this.#started;
    const { facts } = await handle.submit([], { call: { tool, input } });
    const accepted = facts.find((event) => event.type === 'input.accepted');
    const { promise, resolve, reject } = Promise.withResolvers<Ended>();
    const stop = live.subscribe(() => {
      const state = outcomeIn(live.view(), accepted?.input);
      if (state) resolve(state);
    });
    void live.closed.then(() => reject(new Error('The call was stopped.')));
    return promise.finally(stop);
  }

  close(): void {
    this.#isClosed = true;
    const started = this.session.get();
    started?.live.close();
    // The server erases unused sessions of this kind by itself.
    void started?.handle.erase().catch(() => undefined);
  }

  async #start(): Promise<Started> {
    const { now, domain, parent } = await parlance.session(this.#chat).get();
    const handle = parlance.session();
    const agent = parent === undefined ? { agent: now.agent.id } : {};
    await handle.create({ ephemeral: true, named: false, domain, ...agent });
    if (now.approvalMode) await handle.configure({ approval: now.approvalMode });
    const started = { handle, live: handle.live() };
    this.session.set(started);
    if (this.#isClosed) this.close();
    return started;
  }
}

/** The outcome of the call that the input asked for; undefined while it has none. */
function outcomeIn({ entries }: SessionView, input: string | undefined): Ended | undefined {
  const turn = entries.find((entry) => entry.kind === 'turn' && entry.input?.input === input);
  if (turn?.kind !== 'turn') return undefined;
  for (const item of turn.items) if (item.kind === 'call' && item.state.phase === 'ended') return item.state;
  return undefined;
}
