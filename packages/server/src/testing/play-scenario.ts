/** Plays one scenario on the real engine with a scripted model, and returns its events. */
import {
  type CommandInput,
  type Json,
  type ProjectFile,
  type QuestionContent,
  type QuestionId,
  type SessionEvent,
  type SpendLimit,
  textPart,
} from '@parlance/protocol';
import { z } from 'zod';
import type { StepGate } from '../core/index.ts';
import type { Checkpoints } from '../core/ports/checkpoints.ts';
import type { Project } from '../core/ports/project.ts';
import type { Provider } from '../core/ports/provider.ts';
import { defineTool, type Tool } from '../core/ports/tool.ts';
import type { Worktrees } from '../core/ports/worktrees.ts';
import { ROLES } from '../core/session/agent-catalog.ts';
import { agentTool } from '../tools/agent.ts';
import { askUser } from '../tools/ask-user.ts';
import { CALLER, countingIds, createHarness, type Harness, SESSION, say } from './harness.ts';
import { calls, conversationProvider, type Line, USAGE } from './scripted-provider.ts';

export type Scenario = () => Promise<readonly SessionEvent[]>;

type End = {
  readonly last?: SessionEvent['type'];
  readonly turns?: number;
  readonly maxSteps?: number;
  readonly tools?: Tool[];
  /** instead of the model with these answers */
  readonly provider?: Provider;
  /** a tool that edits files, and their checkpoints */
  readonly edits?: boolean;
  readonly spendLimits?: readonly SpendLimit[];
  /** a sub-agent has changed two files, one of which cannot be applied */
  readonly merges?: boolean;
  /** the working folder has an AGENTS.md that nobody has accepted yet */
  readonly instructed?: boolean;
};

/** Runs `act` on a stage with these answers until the last of `turns` turns has ended. */
export const scenario =
  (
    answers: Line[][],
    act: (harness: Harness) => Promise<unknown>,
    {
      last = 'turn.ended',
      turns = 1,
      maxSteps = 10,
      tools = [],
      provider,
      edits = false,
      spendLimits = [],
      instructed = false,
      merges = false,
    }: End = {},
  ): Scenario =>
  async () => {
    const harness = await createHarness(answers, {
      parts: {
        maxSteps,
        spendLimits: () => spendLimits,
        ...(provider && { provider }),
        ...(edits && { checkpoints: CHECKPOINTS }),
        ...(instructed && { project: instructedProject() }),
        ...(merges && { worktrees: WORKTREES }),
      },
      tools: edits ? [...tools, EDIT] : tools,
    });
    const ended = (async () => {
      for (let turn = 0; turn < turns; turn++) await harness.nextEvent(last);
    })();
    await act(harness);
    await ended;
    return harness.events;
  };

const EDIT = defineTool({
  name: 'edit',
  description: 'Edits a file.',
  input: z.object({ path: z.string() }),
  approval: () => null,
  changes: ({ path }) => [path],
  run: async ({ path }) => ({ parts: [textPart(`${path} edited`)] }),
});

const WORKTREES: Worktrees = {
  make: async () => undefined,
  folder: async () => '/worktree',
  changes: async () => ({
    files: [
      { path: 'src/app.ts', change: 'modified', patch: '@@\n-one\n+two\n' },
      { path: 'notes.md', change: 'added', conflict: 'it was changed in the working folder since' },
    ],
    more: 0,
    hash: 'a'.repeat(64),
  }),
  apply: async () => ({
    applied: [{ path: 'src/app.ts', change: 'modified' }],
    kept: [{ path: 'notes.md', reason: 'it was changed in the working folder since' }],
    more: 0,
  }),
  discard: async () => undefined,
  forget: async () => undefined,
};

/** A folder with one file, which is decided about once. */
function instructedProject(): Project {
  const file = { path: 'AGENTS.md', hash: 'a'.repeat(64) } as const;
  const text = 'Answer in one word.\n';
  let use: ProjectFile['use'] = 'new';
  return {
    tool: EDIT,
    look: async () => [{ ...file, use }],
    ask: async () => [{ ...file, text, isDiff: false }],
    decide: async (_place, _files, decision) => {
      use = decision.use;
    },
    load: async () => ({
      instructions: use === 'used' ? [{ path: file.path, text }] : [],
      skills: [],
    }),
  };
}

/** Checkpoints of two files, one of which somebody else has changed since. */
const CHECKPOINTS: Checkpoints = {
  before: async () => async () => ({
    changed: [
      { path: 'src/app.ts', change: 'modified' },
      { path: 'notes.md', change: 'added' },
      { path: 'README.md', change: 'modified' },
    ],
  }),
  preview: async () => ({ files: [], more: 0 }),
  restore: async ({ undoes }) => ({
    restored: [
      { path: 'src/app.ts', change: 'modified' },
      { path: 'notes.md', change: undoes === undefined ? 'deleted' : 'added' },
    ],
    kept:
      undoes === undefined ? [{ path: 'README.md', reason: 'it was changed since by somebody else' }] : [],
  }),
  versions: async () => [],
  content: async () => null,
  knows: async () => true,
  forget: async () => undefined,
};

export const asks = calls(
  'shell',
  { command: ['npm', 'test'] },
  { before: [{ type: 'text', text: 'I will run the tests.' }] },
);

export const answerWith = (...wanted: (readonly [tool: string, input: Record<string, Json>])[]): Line[] => [
  ...wanted.map(([tool, input], at): Line => ({ type: 'call', call: `call_${at + 1}`, tool, input })),
  { type: 'ended', usage: USAGE, stop: 'calls' },
];

export async function answered(harness: Harness, command: object): Promise<void> {
  const asked = harness.nextEvent('approval.requested');
  await say(harness.engine, 'run the tests');
  await asked;
  await harness.engine.send(SESSION, { type: 'approval.answer', ...command } as never, CALLER);
}

/** Sends the text while a client executes the call of the turn, and then the result of that call. */
export async function steered({ engine, nextEvent }: Harness, text: string): Promise<void> {
  const deferred = nextEvent('call.deferred');
  await say(engine, 'Click it');
  const { call } = await deferred;
  await say(engine, text, 'steer');
  await engine.send(SESSION, { type: 'call.answer', call, parts: [textPart('clicked')] }, CALLER);
}

export const asksUser = calls(
  'ask_user',
  {
    questions: [
      {
        header: 'Database',
        question: 'Which database shall I use?',
        options: [{ label: 'SQLite', description: 'One file' }, { label: 'PostgreSQL' }],
        freeText: false,
      },
    ],
  },
  { before: [{ type: 'text', text: 'One question first.' }] },
);

/** A message that may answer a question. */
export const reply = (text: string): CommandInput => ({
  type: 'input.submit',
  parts: [textPart(text)],
  answers: true,
});

/** Sends the command when the turn has asked. */
export const asked = (
  answers: Line[][],
  command: (question: QuestionId) => CommandInput,
  end: End = {},
): Scenario =>
  scenario(answers, (harness) => answeredQuestion(harness, command), { ...end, tools: [askUser] });

export async function answeredQuestion(
  { engine, nextEvent }: Pick<Harness, 'engine' | 'nextEvent'>,
  command: (question: QuestionId) => CommandInput,
): Promise<void> {
  const asked = nextEvent('question.asked');
  await say(engine, 'Set it up');
  const { question } = await asked;
  await engine.send(SESSION, command(question), CALLER);
}

/** A session with sub-agents. Each conversation has the answers that its first message names. */
export const delegated = (
  scripts: Parameters<typeof conversationProvider>[0],
  act: (harness: Harness) => Promise<unknown>,
  end: End = {},
): Scenario => {
  const tools = [agentTool(() => ROLES), askUser];
  return () => {
    const provider = { ...conversationProvider(scripts), contextLimit: 10_000 };
    return scenario([], act, { ...end, tools, provider })();
  };
};

/** Starts a sub-agent with the task `Work`. */
export const spawns = (name: string, more: Record<string, Json> = {}): Line[] =>
  answerWith(['agent', { action: 'spawn', agent: 'worker', task: 'Work', name, ...more }]);

/** Asks before the first model call of the turn. */
export const gated =
  (question: QuestionContent, answers: Line[][]): Scenario =>
  async () => {
    const gates: StepGate[] = [(_session, { settled }) => (settled.length === 0 ? question : null)];
    const harness = await createHarness(answers, { parts: { gates } });
    const ended = harness.nextEvent('turn.ended');
    const [first] = question.questions;
    const answer = { [first?.id ?? '']: [first?.options[0]?.label ?? ''] };
    await answeredQuestion(harness, () => ({ type: 'question.answer', answers: answer }));
    await ended;
    return harness.events;
  };

/** Answers before and after the kill. */
type KilledRun = { readonly answers: Line[][]; readonly after: Line[][] };

/** The first process dies at `at`; a second one continues from the same store. */
export const killed =
  (text: string, at: (harness: Harness) => Promise<unknown>, { answers, after }: KilledRun): Scenario =>
  async () => {
    const ids = countingIds();
    const first = await createHarness(answers, { ids });
    const dead = at(first);
    await say(first.engine, text);
    await dead;
    const before = [...first.events];
    const second = await createHarness(after, { ids, store: first.store });
    const ended = second.nextEvent('turn.ended');
    await second.engine.recover();
    await ended;
    return [...before, ...second.events];
  };
