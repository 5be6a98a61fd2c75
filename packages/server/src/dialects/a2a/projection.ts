/** Out: converts the events of a session to the streams of its tasks. A stream shows one task. */
import {
  type DurableEvent,
  type EphemeralEvent,
  isTurnEvent,
  type SessionEvent,
  textOf,
  wasStopped,
} from '@parlance/protocol';
import type { SessionSnapshot } from '../../core/index.ts';
import type { Pieces } from '../../http/connection.ts';
import { type Calls, NO_CALLS, trackCalls } from '../kit/calls.ts';
import { type Frame, NONE, type Projection, type StepResult } from '../kit/projection.ts';
import { streamRestartText } from '../kit/restart-text.ts';
import { NO_APPROVALS, trackApprovals, type WaitingApprovals } from '../kit/waiting-approvals.ts';
import { agentMessage, answerMessage, approvalMessage, inputMessage } from './messages.ts';
import {
  hasEnded,
  type Message,
  type StreamResponse,
  shownTask,
  type Task,
  type TaskState,
  type TaskStatus,
} from './objects.ts';

type Input = { readonly message: Message | null; readonly isDirect: boolean };

const NO_INPUT: Input = { message: null, isDirect: false };

export type State = {
  /** accepted inputs whose turn starts at once */
  readonly inputs: Readonly<Record<string, Input>>;
  /** unfinished tasks, and the one that ended last */
  readonly tasks: ReadonlyMap<string, TaskProgress>;
  /** the block whose beginning clients have received */
  readonly openBlock: string | null;
};

export const START: State = { inputs: {}, tasks: new Map(), openBlock: null };

/** Merges pieces of one artifact. The first piece replaces what clients have, so it is sent alone. */
const pieces: Pieces<StreamResponse> = {
  key: (body) =>
    'artifactUpdate' in body && body.artifactUpdate.append && !body.artifactUpdate.lastChunk
      ? body.artifactUpdate.artifact.artifactId
      : null,
  text: (body) => {
    const part = 'artifactUpdate' in body ? body.artifactUpdate.artifact.parts[0] : undefined;
    return part && 'text' in part ? part.text : '';
  },
  with(body, text) {
    if (!('artifactUpdate' in body)) return body;
    const { artifactUpdate } = body;
    const artifact = { ...artifactUpdate.artifact, parts: [{ text }] };
    return { artifactUpdate: { ...artifactUpdate, artifact } };
  },
};

export const projection: Projection<State, StreamResponse> = { start, step, attach, pieces };

function start(): State {
  return START;
}

/** Unfinished tasks with the text so far: what follows is exactly the rest. */
function attach({ tasks }: State, { open }: SessionSnapshot): StreamResponse[] {
  return [...tasks.values()]
    .filter(({ status }) => !hasEnded(status.state))
    .map((task) => ({ task: presentTask(task, open) }));
}

export const presentTask = (task: TaskProgress, open: SessionSnapshot['open']) =>
  taskObject(task, open?.kind === 'text' && open.turn === task.id ? open.text : '');

export function step(state: State, event: SessionEvent): StepResult<State, StreamResponse> {
  if (event.type === 'session.erased') return erased(state, event);
  if (!isTurnEvent(event)) return [state, NONE];
  switch (event.type) {
    case 'text.delta':
      return delta(state, event);
    case 'input.accepted':
      return accepted(state, event);
    case 'turn.started':
      return started(state, event);
    case 'text.ended': {
      const isStreamed = event.block === state.openBlock;
      const next = isStreamed ? { ...state, openBlock: null } : state;
      return changed(next, event.turn, (task) => stepTask(task, event, isStreamed));
    }
    case 'input.cancelled':
    case 'turn.resumed':
    case 'turn.ended':
    case 'turn.failed':
    case 'turn.cancelled':
    case 'step.restarted':
    case 'step.ended':
    case 'call.requested':
    case 'approval.requested':
    case 'approval.answered':
    case 'tool.ended':
      return changed(state, event.turn, (task) => stepTask(task, event));
    case 'agent.changed':
    case 'reasoning.ended':
    case 'approval.explained':
    case 'tool.started':
    case 'call.deferred':
    case 'reasoning.delta':
    case 'call.arguments.delta':
    case 'call.progress':
      return [state, NONE];
  }
}

const frames = (bodies: readonly StreamResponse[]): readonly Frame<StreamResponse>[] =>
  bodies.length === 0 ? NONE : bodies.map((body) => ({ body }));

/** Called for each token: only the first piece of a block changes the state. */
function delta(state: State, event: EphemeralEvent<'text.delta'>): StepResult<State, StreamResponse> {
  const { turn, block, text } = event;
  const task = state.tasks.get(turn);
  if (!task || text === '') return [state, NONE];
  if (block === state.openBlock) return [state, [{ body: textUpdate(task, text, { append: true }) }]];
  return changed({ ...state, openBlock: block }, turn, (openBlock) => showText(openBlock, text));
}

function changed(
  state: State,
  turn: string,
  change: (task: TaskProgress) => ChangedTask,
): StepResult<State, StreamResponse> {
  const before = state.tasks.get(turn);
  if (!before) return [state, NONE];
  const [task, bodies] = change(before);
  const tasks = task === before ? state.tasks : new Map(state.tasks).set(turn, task);
  return [{ ...state, tasks }, frames(bodies)];
}

/** A queued message is a task already. */
function accepted(state: State, event: DurableEvent<'input.accepted'>): StepResult<State, StreamResponse> {
  const { input, turn, call } = event;
  const kept = { message: inputMessage(event, turn ?? ''), isDirect: call !== undefined };
  if (turn === undefined) return [{ ...state, inputs: { ...state.inputs, [input]: kept } }, NONE];
  const task = newTask(event, turn, kept);
  const tasks = new Map(unfinished(state)).set(turn, task);
  return [{ ...state, tasks }, frames([{ task: taskObject(task) }])];
}

function started(state: State, event: DurableEvent<'turn.started'>): StepResult<State, StreamResponse> {
  const { turn, input } = event;
  const known = state.tasks.get(turn);
  const { [input]: given = NO_INPUT, ...inputs } = state.inputs;
  const working = { state: 'TASK_STATE_WORKING' } as const;
  const task = withStatus(known ?? newTask(event, turn, given), event, working);
  const tasks = new Map(unfinished(state)).set(turn, task);
  const body = known ? statusUpdate(task) : { task: taskObject(task) };
  return [{ ...state, inputs, tasks }, frames([body])];
}

const unfinished = ({ tasks }: State): [string, TaskProgress][] =>
  [...tasks].filter(([, { status }]) => !hasEnded(status.state));

/** The session was deleted, and its tasks with it. */
function erased(state: State, event: EphemeralEvent<'session.erased'>): StepResult<State, StreamResponse> {
  const ended = unfinished(state).map(([id, task]) =>
    withStatus(task, event, {
      state: 'TASK_STATE_CANCELED',
      message: agentMessage(event, id, 'The session was deleted.'),
    }),
  );
  return [START, frames(ended.map(statusUpdate))];
}

// Applies the events of a turn to its task, and makes the updates for clients.

type ChangedTask = readonly [TaskProgress, readonly StreamResponse[]];

type TaskEvent = DurableEvent<
  | 'input.cancelled'
  | 'turn.resumed'
  | 'turn.ended'
  | 'turn.failed'
  | 'turn.cancelled'
  | 'text.ended'
  | 'step.restarted'
  | 'step.ended'
  | 'call.requested'
  | 'approval.requested'
  | 'approval.answered'
  | 'tool.ended'
>;

/** `isStreamed`: clients already have the text of the block. */
function stepTask(before: TaskProgress, event: TaskEvent, isStreamed = false): ChangedTask {
  const calls = trackCalls(before.calls, event);
  const approvals = trackApprovals(before.approvals, event);
  const task = { ...before, calls, approvals };
  switch (event.type) {
    case 'text.ended':
      return addText(task, event.text, isStreamed);
    case 'step.ended':
      return [{ ...task, settled: task.texts.length }, []];
    case 'turn.resumed':
      return discardStep(task);
    case 'step.restarted':
      return restart(task, event);
    case 'call.requested':
      return [task, []];
    case 'approval.requested':
      return before.approvals.length > 0 ? [withStatus(task, event, task.status), []] : proceed(task, event);
    case 'approval.answered':
      return proceed({ ...task, history: [...task.history, ...exchanged(before, event)] }, event);
    case 'tool.ended': {
      const isAnswer = (task.isDirect || event.final === true) && !wasStopped(event);
      return isAnswer ? addText(task, textOf(event.parts), false) : [task, []];
    }
    case 'turn.ended':
      return end(task, event, { state: 'TASK_STATE_COMPLETED' });
    case 'turn.failed': {
      const message = agentMessage(event, task.id, event.fault.message);
      return end(task, event, { state: 'TASK_STATE_FAILED', message });
    }
    case 'turn.cancelled': {
      const words = CANCELLED[event.reason];
      const message = words === null ? undefined : agentMessage(event, task.id, words);
      return end(task, event, { state: 'TASK_STATE_CANCELED', ...(message && { message }) });
    }
    case 'input.cancelled':
      return end(task, event, { state: 'TASK_STATE_CANCELED' });
  }
}

const CANCELLED = {
  cancelled: null,
  superseded: 'A newer message has taken the place of this one.',
  denied: 'A call was denied, which ended the task.',
} as const;

function addText(task: TaskProgress, text: string, isStreamed: boolean): ChangedTask {
  if (text === '') return [task, []];
  const [shown, bodies] = isStreamed ? [{ ...task, isShown: true }, []] : showText(task, text);
  return [{ ...shown, texts: [...task.texts, text] }, bodies];
}

/** The beginning of a block, or the whole block. */
const showText = (task: TaskProgress, text: string): ChangedTask => [
  { ...task, isShown: true },
  [
    textUpdate(task, task.texts.length === 0 ? text : BETWEEN_BLOCKS + text, {
      append: task.isShown,
    }),
  ],
];

/** Sends the text before the discarded step again, as the beginning of a new artifact. */
function discardStep(task: TaskProgress): ChangedTask {
  const texts = task.texts.slice(0, task.settled);
  const isShown = texts.length > 0;
  const next = { ...task, texts, isShown, version: task.version + 1 };
  return [next, isShown ? [textUpdate(next, texts.join(BETWEEN_BLOCKS), { append: false })] : []];
}

function restart(task: TaskProgress, event: DurableEvent<'step.restarted'>): ChangedTask {
  const [next, bodies] = event.shown ? discardStep(task) : [task, []];
  const words = streamRestartText(event);
  if (words === null) return [next, bodies];
  const message = agentMessage(event, task.id, words);
  // The state has not changed, and neither has its time.
  const { timestamp } = task.status;
  const working: TaskProgress = { ...next, status: { state: 'TASK_STATE_WORKING', message, timestamp } };
  return [working, [statusUpdate(working), ...bodies]];
}

/** The task waits for the first pending approval, or works. */
function proceed(
  task: TaskProgress,
  event: DurableEvent<'approval.requested' | 'approval.answered'>,
): ChangedTask {
  const [first] = task.approvals;
  const next = withStatus(task, event, {
    state: first ? 'TASK_STATE_INPUT_REQUIRED' : 'TASK_STATE_WORKING',
    ...(first && { message: question(task, first) }),
  });
  return [next, [statusUpdate(next)]];
}

const question = ({ calls }: TaskProgress, request: DurableEvent<'approval.requested'>): Message =>
  approvalMessage(request, calls[request.call] ?? { tool: 'unknown', input: {} });

function exchanged(before: TaskProgress, event: DurableEvent<'approval.answered'>): Message[] {
  const request = before.approvals.find(({ approval }) => approval === event.approval);
  return request ? [question(before, request), answerMessage(event)] : [answerMessage(event)];
}

function end(
  task: TaskProgress,
  event: DurableEvent<'turn.ended' | 'turn.failed' | 'turn.cancelled' | 'input.cancelled'>,
  status: { readonly state: TaskState; readonly message?: Message },
): ChangedTask {
  const ended = withStatus(task, event, status);
  const last = task.isShown ? [textUpdate(task, '', { append: true, lastChunk: true })] : [];
  return [ended, [...last, statusUpdate(ended)]];
}

// A task as the projection keeps it: a turn, from the message that it answers to its end.

export type TaskProgress = {
  readonly id: string;
  readonly contextId: string;
  readonly status: TaskStatus;
  readonly history: readonly Message[];
  /** completed text blocks */
  readonly texts: readonly string[];
  /** how many of them belong to completed steps; the others are discarded if the step restarts */
  readonly settled: number;
  /** clients have received text of the artifact */
  readonly isShown: boolean;
  /** incremented when the sent text is discarded: the rest is in another artifact */
  readonly version: number;
  readonly calls: Calls;
  readonly approvals: WaitingApprovals;
  /** the turn executes a direct call of the user: its result is the answer */
  readonly isDirect: boolean;
};

export const BETWEEN_BLOCKS = '\n\n';

export function newTask(
  { session, at }: Pick<SessionEvent, 'session' | 'at'>,
  id: string,
  input: { readonly message: Message | null; readonly isDirect: boolean },
): TaskProgress {
  return {
    id,
    contextId: session,
    status: { state: 'TASK_STATE_SUBMITTED', timestamp: timestamp(at) },
    history: input.message ? [{ ...input.message, taskId: id }] : [],
    texts: [],
    settled: 0,
    isShown: false,
    version: 1,
    calls: NO_CALLS,
    approvals: NO_APPROVALS,
    isDirect: input.isDirect,
  };
}

export const timestamp = (at: number): string => new Date(at).toISOString();

export const withStatus = (
  task: TaskProgress,
  { at }: Pick<DurableEvent, 'at'>,
  status: { readonly state: TaskState; readonly message?: Message },
): TaskProgress => ({ ...task, status: { ...status, timestamp: timestamp(at) } });

/** `open` is the text of the block being streamed. */
export function taskObject(task: TaskProgress, open = ''): Task {
  const { id, contextId, status, history, texts } = task;
  const text = (open === '' ? texts : [...texts, open]).join(BETWEEN_BLOCKS);
  const artifacts = text === '' ? [] : [{ artifactId: artifactId(task), parts: [{ text }] }];
  return shownTask({ id, contextId, status, artifacts, history });
}

const artifactId = ({ id, version }: TaskProgress): string => (version === 1 ? id : `${id}-${version}`);

export const statusUpdate = ({ id, contextId, status }: TaskProgress): StreamResponse => ({
  statusUpdate: { taskId: id, contextId, status },
});

/** A piece of the answer. */
export const textUpdate = (
  task: TaskProgress,
  text: string,
  { append, lastChunk = false }: { readonly append: boolean; readonly lastChunk?: boolean },
): StreamResponse => ({
  artifactUpdate: {
    taskId: task.id,
    contextId: task.contextId,
    artifact: { artifactId: artifactId(task), parts: [{ text }] },
    append,
    lastChunk,
  },
});
