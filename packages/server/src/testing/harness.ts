/** An engine for scenarios: a scripted model, small tools, a deterministic clock and deterministic ids. */
import {
  type Ask,
  Fault,
  type InputMode,
  LOCAL,
  type SessionEvent,
  type SessionId,
  textPart,
} from '@parlance/protocol';
import { z } from 'zod';
import { defaultCatalog } from '../compose/domains.ts';
import { openMemoryBus } from '../core/engine/bus.ts';
import { type Caller, createEngine, type Engine, type EngineParts, type SessionRef } from '../core/index.ts';
import type { SessionStore } from '../core/ports/event-store.ts';
import type { Log } from '../core/ports/telemetry.ts';
import { defineTool, type Tool } from '../core/ports/tool.ts';
import {
  type ExclusiveSessions,
  LeaseTable,
  type MemoryLeases,
  openMemoryLeases,
  withLeases,
} from '../stores/sqlite/leases.ts';
import { type Line, type ScriptedProvider, scriptedProvider } from './scripted-provider.ts';
import { openMemoryStore } from './stores/memory/store.ts';

export const SESSION: SessionRef = { owner: LOCAL.id, id: 'session-1' as SessionId };
export const CALLER: Caller = { principal: LOCAL, dialect: 'native' };

export type Harness = {
  readonly engine: Engine;
  readonly provider: ScriptedProvider;
  readonly store: SessionStore;
  /** all events of the session, in order */
  readonly events: SessionEvent[];
  /** resolves with the next event of that type */
  nextEvent<Type extends SessionEvent['type']>(type: Type): Promise<Extract<SessionEvent, { type: Type }>>;
};

export type HarnessOptions = {
  readonly store?: SessionStore;
  /** by default a separate node whose leases exclude nobody */
  readonly leases?: MemoryLeases;
  /** shared by the nodes of one store */
  readonly exclusive?: ExclusiveSessions;
  readonly ids?: () => string;
  readonly tools?: Tool[];
  /** overrides of the engine's options */
  readonly parts?: Partial<EngineParts>;
};

export async function createHarness(
  answers: readonly (readonly Line[])[],
  options: HarnessOptions = {},
): Promise<Harness> {
  const provider = scriptedProvider(answers);
  const store = options.store ?? openMemoryStore();
  const leases = options.leases ?? openMemoryLeases(new LeaseTable(), store);
  let clock = Date.UTC(2026, 0, 1);
  const log: Log = options.parts?.log ?? {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: (data, message) => console.error(message, data),
  };
  const engine = createEngine({
    store: withLeases(store, leases, options.exclusive),
    bus: openMemoryBus(log),
    leases,
    provider,
    catalog: defaultCatalog(),
    tools: new Map([...TOOLS, ...(options.tools ?? [])].map((tool) => [tool.name, tool])),
    instructions: 'Be brief.',
    root: '/work',
    approvalMode: 'suggest',
    fullAutoProblem: null,
    context: { strategy: 'threshold', threshold: 0.8 },
    maxSteps: 10,
    parallelCalls: 8,
    turnsAtOnce: 10,
    now: () => clock++,
    newId: options.ids ?? countingIds(),
    log,
    ...options.parts,
  });
  const events: SessionEvent[] = [];
  const waiting = new Set<{ type: string; resolve: (event: never) => void }>();
  await engine.watch(SESSION, (event) => {
    events.push(structuredClone(event));
    for (const waiter of [...waiting]) {
      if (waiter.type !== event.type) continue;
      waiting.delete(waiter);
      waiter.resolve(event as never);
    }
  });
  return {
    engine,
    provider,
    store,
    events,
    nextEvent(type) {
      const { promise, resolve } = Promise.withResolvers<never>();
      waiting.add({ type, resolve });
      return promise;
    },
  };
}

const ignore = () => undefined;

/** Sequential UUIDs; the last group is free for ids that dialects derive. */
export function countingIds(): () => string {
  let count = 0;
  return () => `${(++count).toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;
}

export const say = (engine: Engine, text: string, mode: InputMode = 'queue') =>
  engine.send(SESSION, { type: 'input.submit', parts: [textPart(text)], mode }, CALLER);

const asking = (command: string[]): Ask => ({
  kind: 'command',
  command,
  description: `Run ${command.join(' ')}`,
  grant: `shell:${command[0]}`,
});

const TOOLS: readonly Tool[] = [
  defineTool({
    name: 'lookup',
    description: 'Looks a word up.',
    input: z.object({ word: z.string() }),
    approval: () => null,
    run: async ({ word }) => ({ parts: [textPart(`${word}: a word`)], data: { word } }),
  }),
  defineTool({
    name: 'shell',
    description: 'Runs a command.',
    input: z.object({ command: z.array(z.string()) }),
    asks: true,
    approval: ({ command }) => asking(command),
    run: async ({ command }) => ({
      parts: [textPart(`ran ${command.join(' ')}`)],
      data: { output: `ran ${command.join(' ')}`, exit_code: 0 },
    }),
  }),
  defineTool({
    name: 'broken',
    description: 'Fails.',
    input: z.object({}),
    approval: () => null,
    run: async () => {
      throw new Error('a bug with a secret path');
    },
  }),
  defineTool({
    name: 'endless',
    description: 'Runs until it is stopped.',
    input: z.object({}),
    approval: () => null,
    run: (_input, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
  }),
  defineTool({
    name: 'errand',
    exclusive: 'always',
    description: 'Is run by a client that comes and goes.',
    input: z.object({ what: z.string() }),
    deferred: true,
    approval: () => null,
    run: async ({ what }) => {
      if (what === 'impossible') throw new Fault('tool_failed', 'That cannot be done.');
      return { parts: [] };
    },
  }),
  defineTool({
    name: 'errand-end',
    description: 'Gives up.',
    input: z.object({ why: z.string() }),
    approval: () => null,
    run: async ({ why }) => ({ parts: [textPart(why)], failed: true, final: true }),
  }),
  defineTool({
    name: 'handoff',
    exclusive: 'always',
    description: 'Hands over.',
    input: z.object({ agent: z.string(), reason: z.string() }),
    approval: () => null,
    run: async ({ agent, reason }) => ({ parts: [textPart(`over to ${agent}`)], handoff: { agent, reason } }),
  }),
];
