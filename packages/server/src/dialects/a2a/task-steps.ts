/** Applies the events of a turn to its task, and makes the updates for clients. */
import { type DurableEvent, textOf, wasStopped } from '@parlance/protocol';
import { trackCalls } from '../shared/calls.ts';
import { streamRestartText } from '../shared/restart-text.ts';
import { trackApprovals } from '../shared/waiting-approvals.ts';
import { agentMessage, answerMessage, approvalMessage } from './messages.ts';
import type { Message, StreamResponse, TaskState } from './objects.ts';
import { BETWEEN_BLOCKS, statusUpdate, type TaskProgress, textUpdate, withStatus } from './task.ts';

export type ChangedTask = readonly [TaskProgress, readonly StreamResponse[]];

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
export function stepTask(before: TaskProgress, event: TaskEvent, isStreamed = false): ChangedTask {
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
export const showText = (task: TaskProgress, text: string): ChangedTask => [
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
