/**
 * Out: converts the events of a session to the streams of its tasks. A stream shows one task. It does not use `TurnReader`: a task exists
 * before its turn starts, and waits for input as soon as there is an approval, while other calls of the turn still run; a reader that
 * is behind gets the current task from the state of the projection.
 */
import {
  type PromptPart as CorePart,
  type DurableEvent,
  type EphemeralEvent,
  isObject,
  isTurnEvent,
  type Link,
  limitNotice,
  type SessionEvent,
  textOf,
  wasStopped,
  withoutPages,
  writtenQuestion,
} from '@parlance/protocol';
import type { SessionSnapshot } from '../../core/index.ts';
import type { Pieces } from '../../http/connection.ts';
import { type Frame, NONE, type Projection, type StepResult } from '../kit/projection.ts';
import { instructionsText, questionText, streamRestartText } from '../kit/texts.ts';
import {
  type Calls,
  NO_APPROVALS,
  NO_CALLS,
  trackApprovals,
  trackCalls,
  type WaitingApprovals,
} from '../kit/tracking.ts';
import {
  hasEnded,
  type Message,
  type Part,
  type StreamResponse,
  type Task,
  type TaskState,
} from './contract.ts';

/** The message of the user. */
type Input = { readonly id: string; readonly parts: readonly Part[]; readonly isDirect: boolean };

const NO_INPUT: Input = { id: '', parts: [], isDirect: false };

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

export const projection: Projection<State, StreamResponse> = { start: () => START, step, attach, pieces };

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
      return changed(next, event, (task) => addText(task, event.text, isStreamed));
    }
    case 'step.ended':
      return changed(state, event, (task) => [{ ...task, settled: task.texts.length }, []]);
    case 'turn.resumed':
      return changed(state, event, discardStep);
    case 'step.restarted':
      return changed(state, event, (task) => restart(task, event));
    case 'limit.approached':
      return changed(state, event, (task) => say(task, event, limitNotice(event.limit)));
    case 'instructions.changed': {
      const { turn } = event;
      const words = instructionsText(event);
      if (words === null || !turn) return [state, NONE];
      return changed(state, { ...event, turn }, (task) => say(task, event, words));
    }
    case 'call.requested':
      return changed(state, event, (task) => [task, []]);
    case 'approval.requested':
      return changed(state, event, (task, before) =>
        before.approvals.length > 0 ? [withStatus(task, event, task.status), []] : proceed(task, event),
      );
    case 'approval.answered':
      return changed(state, event, (task, before) =>
        proceed({ ...task, history: [...task.history, ...exchanged(before, event)] }, event),
      );
    case 'question.asked':
    case 'question.repeated':
      return changed(state, event, (task) => {
        const message = agentMessage(task, event, writtenQuestion(event));
        const asked = withStatus(task, event, { state: 'TASK_STATE_INPUT_REQUIRED', message });
        return [asked, [statusUpdate(asked)]];
      });
    case 'question.answered':
      return changed(state, event, (task) => {
        const working = withStatus(task, event, { state: 'TASK_STATE_WORKING' });
        return [working, [statusUpdate(working)]];
      });
    case 'tool.ended':
      return changed(state, event, (task) => {
        const isAnswer = (task.isDirect || event.final === true) && !wasStopped(event);
        const [next, bodies] = addFiles(task, event);
        if (!isAnswer) return [next, bodies];
        const [answered, texts] = addText(next, textOf(event.parts), false);
        return [answered, [...bodies, ...texts]];
      });
    case 'turn.ended':
      return changed(state, event, (task) => end(task, event, 'TASK_STATE_COMPLETED'));
    case 'turn.failed':
      return changed(state, event, (task) => end(task, event, 'TASK_STATE_FAILED', event.fault.message));
    case 'turn.cancelled': {
      const words = CANCELLED[event.reason];
      return changed(state, event, (task) => end(task, event, 'TASK_STATE_CANCELED', words));
    }
    case 'input.joined':
      return joined(state, event);
    case 'input.cancelled':
      return changed(state, event, (task) => end(task, event, 'TASK_STATE_CANCELED'));
    // It belongs to no task.
    case 'files.rewound':
    case 'agent.changed':
    case 'reasoning.ended':
    case 'approval.explained':
    case 'tool.started':
    case 'call.deferred':
    case 'call.delegated':
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
  if (block === state.openBlock) return [state, [{ body: textUpdate(task, text, true) }]];
  return changed({ ...state, openBlock: block }, event, (shown) => showText(shown, text));
}

type ChangedTask = readonly [TaskProgress, readonly StreamResponse[]];

/** `change` is given the task with its calls and approvals after the event, and the task before. */
function changed(
  state: State,
  event: SessionEvent & { readonly turn: string },
  change: (task: TaskProgress, before: TaskProgress) => ChangedTask,
): StepResult<State, StreamResponse> {
  const before = state.tasks.get(event.turn);
  if (!before) return [state, NONE];
  const calls = trackCalls(before.calls, event);
  const approvals = trackApprovals(before.approvals, event);
  const [task, bodies] = change({ ...before, calls, approvals }, before);
  return [{ ...state, tasks: new Map(state.tasks).set(event.turn, task) }, frames(bodies)];
}

/** A queued message is a task already. */
function accepted(state: State, event: DurableEvent<'input.accepted'>): StepResult<State, StreamResponse> {
  const { input, key, turn, call } = event;
  const asking = event.answers && event.joins ? state.tasks.get(event.joins) : undefined;
  if (asking) {
    const said = message(asking, 'ROLE_USER', key ?? input, inputParts(event));
    const history = [...asking.history, ...(asking.status.message ? [asking.status.message] : []), said];
    return [{ ...state, tasks: new Map(state.tasks).set(asking.id, { ...asking, history }) }, NONE];
  }
  const kept = { id: key ?? input, parts: inputParts(event), isDirect: call !== undefined };
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

/** The task of the message has nothing left to do: the task that it joined answers it, and has the message in its history. */
function joined(state: State, event: DurableEvent<'input.joined'>): StepResult<State, StreamResponse> {
  const task = state.tasks.get(event.own);
  if (!task) return [state, NONE];
  const [ended, updates] = end(
    task,
    event,
    'TASK_STATE_COMPLETED',
    `The message joined the task ${event.turn}.`,
  );
  const tasks = new Map(state.tasks).set(event.own, ended);
  const running = tasks.get(event.turn);
  if (running) tasks.set(event.turn, { ...running, history: [...running.history, ...task.history] });
  return [{ ...state, tasks }, frames(updates)];
}

const unfinished = ({ tasks }: State): [string, TaskProgress][] =>
  [...tasks].filter(([, { status }]) => !hasEnded(status.state));

/** The session was deleted, and its tasks with it. */
function erased(state: State, event: EphemeralEvent<'session.erased'>): StepResult<State, StreamResponse> {
  const ended = unfinished(state).map(([, task]) => {
    const message = agentMessage(task, event, 'The session was deleted.');
    return withStatus(task, event, { state: 'TASK_STATE_CANCELED', message });
  });
  return [START, frames(ended.map(statusUpdate))];
}

// Changes of a task, and the updates for clients.

const CANCELLED = {
  cancelled: undefined,
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
  [textUpdate(task, task.texts.length === 0 ? text : BETWEEN_BLOCKS + text, task.isShown)],
];

/** Images and files that a tool returned are an artifact of their own. */
function addFiles(task: TaskProgress, { call, outcome, parts }: DurableEvent<'tool.ended'>): ChangedTask {
  const files = withoutPages(parts).filter(({ type }) => type !== 'text');
  if (outcome !== 'ok' || files.length === 0) return [task, []];
  const artifact = { artifactId: `${task.id}-${call}`, parts: files.map(partOf) };
  const about = { taskId: task.id, contextId: task.contextId };
  return [
    { ...task, files: [...task.files, artifact] },
    [{ artifactUpdate: { ...about, artifact, append: false, lastChunk: true } }],
  ];
}

/** Sends the text before the discarded step again, as the beginning of a new artifact. */
function discardStep(task: TaskProgress): ChangedTask {
  const texts = task.texts.slice(0, task.settled);
  const isShown = texts.length > 0;
  const next = { ...task, texts, isShown, version: task.version + 1 };
  return [next, isShown ? [textUpdate(next, texts.join(BETWEEN_BLOCKS), false)] : []];
}

function restart(task: TaskProgress, event: DurableEvent<'step.restarted'>): ChangedTask {
  const [next, bodies] = event.shown ? discardStep(task) : [task, []];
  const words = streamRestartText(event);
  if (words === null) return [next, bodies];
  const [working, said] = say(next, event, words);
  return [working, [...said, ...bodies]];
}

/** The state has not changed, and neither has its time. */
function say(
  task: TaskProgress,
  event: DurableEvent<'step.restarted' | 'limit.approached' | 'instructions.changed'>,
  words: string,
): ChangedTask {
  const message = agentMessage(task, event, words);
  const { timestamp } = task.status;
  const working: TaskProgress = { ...task, status: { state: 'TASK_STATE_WORKING', message, timestamp } };
  return [working, [statusUpdate(working)]];
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

function exchanged(before: TaskProgress, event: DurableEvent<'approval.answered'>): Message[] {
  const request = before.approvals.find(({ approval }) => approval === event.approval);
  const answer = answerMessage(before, event);
  return request ? [question(before, request), answer] : [answer];
}

function end(
  task: TaskProgress,
  event: DurableEvent<'turn.ended' | 'turn.failed' | 'turn.cancelled' | 'input.cancelled' | 'input.joined'>,
  state: TaskState,
  words?: string,
): ChangedTask {
  const message = words === undefined ? {} : { message: agentMessage(task, event, words) };
  const ended = withStatus(task, event, { state, ...message });
  const last = task.isShown ? [textUpdate(task, '', true, true)] : [];
  return [ended, [...last, statusUpdate(ended)]];
}

// A task as the projection keeps it: a turn, from the message that it answers to its end.

type TaskProgress = {
  readonly id: string;
  readonly contextId: string;
  readonly status: Task['status'];
  readonly history: readonly Message[];
  /** what tools returned */
  readonly files: NonNullable<Task['artifacts']>;
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

const BETWEEN_BLOCKS = '\n\n';

function newTask(
  { session, at }: Pick<SessionEvent, 'session' | 'at'>,
  id: string,
  { id: messageId, parts, isDirect }: Input,
): TaskProgress {
  const about = { id, contextId: session };
  return {
    ...about,
    status: { state: 'TASK_STATE_SUBMITTED', timestamp: new Date(at).toISOString() },
    history: parts.length > 0 ? [message(about, 'ROLE_USER', messageId, parts)] : [],
    files: [],
    texts: [],
    settled: 0,
    isShown: false,
    version: 1,
    calls: NO_CALLS,
    approvals: NO_APPROVALS,
    isDirect,
  };
}

const withStatus = (
  task: TaskProgress,
  { at }: Pick<DurableEvent, 'at'>,
  status: { readonly state: TaskState; readonly message?: Message },
): TaskProgress => ({ ...task, status: { ...status, timestamp: new Date(at).toISOString() } });

/** `open` is the text of the block being streamed. */
export function taskObject(task: TaskProgress, open = ''): Task {
  const { id, contextId, status, history, texts } = task;
  const text = (open === '' ? texts : [...texts, open]).join(BETWEEN_BLOCKS);
  const answer = text === '' ? [] : [{ artifactId: artifactId(task), parts: [{ text }] }];
  const artifacts = [...answer, ...task.files];
  return shownTask({ id, contextId, status, artifacts, history });
}

const artifactId = ({ id, version }: TaskProgress): string => (version === 1 ? id : `${id}-${version}`);

const statusUpdate = ({ id, contextId, status }: TaskProgress): StreamResponse => ({
  statusUpdate: { taskId: id, contextId, status },
});

/** A piece of the answer. */
const textUpdate = (
  task: TaskProgress,
  text: string,
  append: boolean,
  lastChunk = false,
): StreamResponse => ({
  artifactUpdate: {
    taskId: task.id,
    contextId: task.contextId,
    artifact: { artifactId: artifactId(task), parts: [{ text }] },
    append,
    lastChunk,
  },
});

/** With only the latest messages of the history, and without empty fields. */
export function shownTask(task: Task, historyLength?: number): Task {
  const { history = [], artifacts = [], ...rest } = task;
  const from = Math.max(0, history.length - (historyLength ?? history.length));
  const latest = history.slice(from);
  return {
    ...rest,
    ...(artifacts.length > 0 && { artifacts }),
    ...(latest.length > 0 && { history: latest }),
  };
}

// Messages of the user and the agent.

const message = (
  { id, contextId }: Pick<TaskProgress, 'id' | 'contextId'>,
  role: Message['role'],
  messageId: string,
  parts: readonly Part[],
): Message => ({ messageId, contextId, taskId: id, role, parts });

const agentMessage = (task: TaskProgress, { id }: Pick<DurableEvent, 'id'>, text: string): Message =>
  message(task, 'ROLE_AGENT', id, [{ text }]);

/** Parts that the core stores as text are also stored as they were sent. */
export const SENT_PARTS = 'a2a.parts';

/** The parts of an input as they were sent, or as the core has them if it was sent in another dialect. */
function inputParts({ parts, call, data }: DurableEvent<'input.accepted'>): readonly Part[] {
  const sent = data?.[SENT_PARTS];
  if (Array.isArray(sent) && sent.every(isObject)) return sent as Part[];
  if (parts.length === 0 && call) return [{ text: `/tool ${call.tool} ${JSON.stringify(call.input)}` }];
  return withoutPages(parts).map(partOf);
}

/** Clients limit the size of an event, so large files are not repeated in the history. */
const MAX_RAW_LENGTH = 100_000;

function partOf(part: CorePart): Part {
  if (part.type === 'text') return part.link ? linkOf(part.link) : { text: part.text };
  const { data, mime } = part;
  const about = { mediaType: mime, ...(part.type === 'file' && { filename: part.name }) };
  if (data.length <= MAX_RAW_LENGTH) return { raw: data, ...about };
  const name = part.type === 'file' ? part.name : 'an image';
  return { text: `[${name}, ${mime}, ${Math.floor((data.length * 3) / 4)} bytes]` };
}

const linkOf = ({ url, mime, name }: Link): Part => ({
  url,
  ...(mime !== undefined && { mediaType: mime }),
  ...(name !== undefined && { filename: name }),
});

/** The question of a pending approval, for users and for programs. */
function question(task: TaskProgress, event: DurableEvent<'approval.requested'>): Message {
  const { approval, ask } = event;
  const { tool, input } = task.calls[event.call] ?? { tool: 'unknown', input: {} };
  return message(task, 'ROLE_AGENT', approval, [
    { text: questionText(ask) },
    {
      data: {
        approval: { id: approval, tool, input, description: ask.description },
        answers: ['once', 'always', 'deny'],
      },
    },
  ]);
}

/** The id of the message that answered an approval is stored under this name. */
export const ANSWER_ID = 'a2a.messageId';

/** The answer as text, or as data. */
function answerMessage(task: TaskProgress, event: DurableEvent<'approval.answered'>): Message {
  const { id, approval, answer, reason, said, attributes } = event;
  const messageId = attributes?.[ANSWER_ID];
  return message(task, 'ROLE_USER', typeof messageId === 'string' ? messageId : id, [
    said === undefined ? { data: { approval, answer, ...(reason && { reason }) } } : { text: said },
  ]);
}
