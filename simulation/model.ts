/** Models and tools: random programs of text, reasoning, calls and failures, and tools whose side effects are counted. */
import {
  type Ask,
  Fault,
  type JsonObject,
  type Part,
  type QuestionContent,
  type TurnId,
  textPart,
} from '@parlance/protocol';
import { z } from 'zod';
import type { SessionRef } from '../packages/server/src/core/ports/event-store.ts';
import type { Prompt, Provider, ProviderEvent } from '../packages/server/src/core/ports/provider.ts';
import type { ModelCallInfo } from '../packages/server/src/core/ports/telemetry.ts';
import { defineTool, type Tool, type ToolContext } from '../packages/server/src/core/ports/tool.ts';
import { ROLES } from '../packages/server/src/core/session/agent-catalog.ts';
import { agentTool } from '../packages/server/src/tools/agent.ts';
import type { Capabilities } from './plan.ts';
import type { Random } from './random.ts';
import { CHANGES_FILES } from './rewind.ts';
import type { Process } from './world.ts';

/** What the world learns of side effects, at the moment they happen. */
export type Effects = {
  /** a model is asked for the next step of a turn */
  modelCalled(node: Process, call: ModelRequest): void;
  /** a model answers with a failure: its node knows, also if the turn ends before that is stored */
  modelFailed(node: Process, model: string): void;
  /** the tool of a call throws */
  failed(call: string): void;
  /** the files that a call may change are stored */
  stored(call: string): void;
  /** files are restored */
  restored(node: Process, ref: SessionRef, rewind: string): void;
  /** the side effect of a call happens */
  happened(node: Process, tool: string, context: Pick<ToolContext, 'session' | 'owner' | 'call'>): void;
};

export type ModelRequest = {
  readonly ref: SessionRef;
  readonly turn: TurnId;
  readonly model: string;
  readonly prompt: Prompt;
};

/** The chain of every node. */
export const MODELS = ['first', 'second'] as const;

const USAGE = { inputTokens: 20, outputTokens: 10 };

/** Ids of calls and blocks are unique in the world, so that an effect belongs to one call. */
export class Model {
  #calls = 0;
  #blocks = 0;
  /** false at the end of a run: answers are short, and no call is made, so that turns end */
  lively = true;

  constructor(
    private readonly effects: Effects,
    private readonly can: Capabilities,
  ) {}

  /** `called` is what the engine last told of a model call: it does so right before the call. */
  provider(process: Process, called: () => ModelCallInfo | null): Provider {
    const [first, ...others] = MODELS.map((name) => this.#named(name, process, called));
    return { ...(first as Provider), fallbacks: others };
  }

  #named(name: string, process: Process, called: () => ModelCallInfo | null): Provider {
    const model = this;
    return {
      name: 'simulated',
      model: name,
      contextLimit: 4_000,
      async *stream(prompt, signal, take) {
        const { session, turn } = called() ?? {};
        if (prompt.task === 'chat' && session && turn)
          model.effects.modelCalled(process, { ref: session, turn, model: name, prompt });
        const stopped = Promise.withResolvers<'stopped'>();
        signal.addEventListener('abort', () => stopped.resolve('stopped'), { once: true });
        for (const event of model.#program(process.random, prompt, name)) {
          const waited = await Promise.race([
            process.sleep(process.random.latency(8)).then(() => 'on'),
            stopped.promise,
          ]);
          if (waited === 'stopped' || signal.aborted) {
            yield { type: 'failed', fault: { code: 'cancelled', message: 'stopped' } };
            return;
          }
          if ((event.type === 'text' || event.type === 'reasoning') && process.random.chance(0.7))
            if (take?.(event.type, event.text)) continue;
          if (event.type === 'failed') model.effects.modelFailed(process, name);
          if (event.type !== 'ended' || event.stop !== 'length') yield event;
          else {
            // An endless answer: it ends with the turn, or after a while.
            await Promise.race([process.sleep(process.random.between(500, 20_000)), stopped.promise]);
            yield signal.aborted
              ? { type: 'failed', fault: { code: 'cancelled', message: 'stopped' } }
              : { ...event, stop: 'done' };
          }
        }
      },
    };
  }

  *#program(random: Random, prompt: Prompt, name: string): Generator<ProviderEvent> {
    if (prompt.task !== 'chat') {
      yield { type: 'text', text: 'a summary' };
      yield { type: 'ended', usage: USAGE, stop: 'done' };
      return;
    }
    const failure = random.unit();
    if (random.chance(0.4)) yield* this.#block('reasoning', random);
    if (random.chance(0.1))
      yield { type: 'sealed', sealed: { provider: 'simulated', data: 'opaque' } as never };
    if (this.lively && failure < 0.05) {
      yield { type: 'text', text: `[${++this.#blocks}: half` };
      yield {
        type: 'retrying',
        attempt: 1,
        delayMs: 10,
        fault: { code: 'provider_unavailable', message: 'The model is busy.' },
      };
    }
    if (random.chance(0.8)) yield* this.#block('text', random);
    // Often, so that steps in which both fail are not rare.
    if (this.lively && name !== MODELS[0] && failure > 0.7) {
      yield { type: 'failed', fault: { code: 'provider_limited', message: 'The model is limited.' } };
      return;
    }
    if (this.lively && failure > 0.95) {
      const codes = ['provider_unavailable', 'context_too_long', 'provider_rejected'] as const;
      yield { type: 'failed', fault: { code: random.pick(codes) as never, message: 'The model failed.' } };
      return;
    }
    const calls = this.lively && random.chance(0.55) ? random.between(1, 3) : 0;
    for (let index = 0; index < calls; index++) {
      if (this.can.subAgents > 0 && random.chance(this.can.subAgents)) yield this.#agentCall(prompt, random);
      else yield* this.#call(index, random);
    }
    const endless = this.lively && calls === 0 && random.chance(0.05);
    yield { type: 'ended', usage: USAGE, stop: calls > 0 ? 'calls' : endless ? 'length' : 'done' };
  }

  /** A block begins with `[` and ends with `]`, so that a part of it can be told from all of it. */
  *#block(type: 'text' | 'reasoning', random: Random): Generator<ProviderEvent> {
    const block = ++this.#blocks;
    yield { type, text: `[${block}:` };
    for (let word = random.between(0, 8); word > 0; word--) yield { type, text: ` ${word}` };
    yield { type, text: ']' };
  }

  /** Starts a sub-agent, or talks to one that the conversation names. */
  #agentCall(prompt: Prompt, random: Random): ProviderEvent {
    const call = `c${++this.#calls}`;
    const known = [...JSON.stringify(prompt.items).matchAll(/"name":"(k\d+)"/g)].map(
      ([, name]) => name ?? '',
    );
    const isMuch = this.can.subAgents > 0.5;
    // A sub-agent that is told more and waited for has more to report than its last answer.
    const more = isMuch ? (['message', 'message', 'wait', 'wait'] as const) : [];
    const action =
      known.length === 0 ? 'spawn' : random.pick(['spawn', 'message', 'wait', 'cancel', ...more] as const);
    const background = random.chance(isMuch ? 0.6 : 0.4);
    const task = `task of ${call}`;
    const input: JsonObject =
      action === 'spawn'
        ? { action, agent: 'worker', task, name: `k${this.#calls}`, background }
        : action === 'message'
          ? { action, agent: random.pick(known), task, background }
          : { action, agent: random.pick(known) };
    return { type: 'call', call, tool: 'agent', input };
  }

  *#call(index: number, random: Random): Generator<ProviderEvent> {
    const call = `c${++this.#calls}`;
    const { tools } = this.can;
    const tool = random.pick(tools.length > 0 ? tools : TOOL_NAMES);
    const input = { call };
    const text = JSON.stringify(input);
    if (random.chance(0.5)) {
      yield { type: 'arguments', index, call, tool, text: text.slice(0, 5) };
      yield { type: 'arguments', index, call, tool, text: text.slice(5) };
    }
    const isMalformed = random.chance(0.05);
    const isUnknown = !isMalformed && random.chance(0.05);
    if (isMalformed) yield { type: 'call', call, tool, input: {}, malformed: '{"call":' };
    else if (isUnknown) yield { type: 'call', call, tool: 'no_such_tool', input };
    else yield { type: 'call', call, tool, input };
  }
}

const asking = (tool: string): Ask => ({
  kind: 'command',
  command: [tool],
  description: `Run ${tool}`,
  grant: `simulated:${tool}`,
});

type Kind = Pick<Tool, 'repeatable' | 'exclusive' | 'deferred'> & {
  readonly asks?: boolean;
  /** the call is a question to the user */
  readonly question?: boolean;
  readonly browser?: boolean;
};

const KINDS: Readonly<Record<string, Kind>> = {
  plain: {},
  plain_too: {},
  repeatable: { repeatable: true },
  guarded: { asks: true },
  guarded_alone: { asks: true, exclusive: 'if-asked' },
  ordered: { exclusive: 'always' },
  ordered_guarded: { exclusive: 'always', asks: true },
  deferred: { deferred: true },
  browser: { browser: true },
  question: { question: true, exclusive: 'always' },
};

const TOOL_NAMES = Object.keys(KINDS);
export const isRepeatable = (tool: string): boolean => tool === 'agent' || KINDS[tool]?.repeatable === true;
export const needsApproval = (tool: string): boolean => KINDS[tool]?.asks === true;
export const isCounted = (tool: string): boolean =>
  tool in KINDS && !KINDS[tool]?.deferred && !KINDS[tool]?.browser && !KINDS[tool]?.question;

const QUESTION: QuestionContent = {
  purpose: 'tool',
  questions: [
    {
      id: 'way',
      header: 'Way',
      text: 'Which way?',
      options: [{ label: 'left' }, { label: 'right' }],
      multiple: false,
      freeText: true,
      max: 20,
    },
  ],
};

/** The tools of one node. */
export function toolsOf(process: Process, effects: Effects, can: Capabilities): Map<string, Tool> {
  const { random } = process;
  const tools = Object.entries(KINDS).map(([name, { asks = false, browser = false, question, ...kind }]) =>
    defineTool({
      ...kind,
      name,
      asks,
      description: `A tool that is ${name}.`,
      input: z.object({ call: z.string() }),
      approval: async () => {
        if (random.chance(0.2)) await process.sleep(random.between(1, 400));
        return asks ? asking(name) : null;
      },
      ...(question && { question: () => QUESTION }),
      ...(name === CHANGES_FILES && { changes: () => 'folder' as const }),
      async run(_input, context) {
        if (kind.deferred) return { parts: [] };
        if (browser) return { parts: [textPart(JSON.stringify(await atBrowser(context)))] };
        await process.sleep(random.latency(10));
        effects.happened(process, name, context);
        await process.sleep(random.latency(20));
        if (random.chance(0.05)) {
          effects.failed(context.call);
          throw new Fault('tool_failed', 'It does not work.');
        }
        const parts: Part[] = [textPart(`done ${context.call}`)];
        return { parts, ...(random.chance(0.1) && { untrusted: true as const }) };
      },
    }),
  );
  if (can.subAgents > 0) tools.push(agentTool(() => ROLES));
  return new Map(tools.map((tool) => [tool.name, tool]));
}

const atBrowser = (context: ToolContext) =>
  context.atClient({
    tool: 'browser',
    parameters: { call: context.call },
    schema: {},
    permissions: [],
    timeoutMs: 5_000,
    unavailable: 'No browser is connected.',
  });
