/** Out: converts the events of a session to notifications and requests. */
import {
  type ApprovalId,
  type Ask,
  type CallId,
  type ConnectionId,
  type DurableEvent,
  type HistoryItem,
  isDurable,
  isTurnEvent,
  type JsonObject,
  limitNotice,
  type Part,
  type PromptPart,
  pathText,
  type SessionEvent,
  textPart,
  titleOf,
  visible,
  visibleJson,
  visibleQuestion,
  withoutPages,
  writtenQuestion,
} from '@parlance/protocol';
import { patchedFiles, type ShownLine } from '@parlance/protocol/patch';
import type { OpenQuestion, SessionSnapshot } from '../../core/index.ts';
import type { Pieces } from '../../http/connection.ts';
import { type Frame, NONE, type Projection, type StepResult } from '../kit/projection.ts';
import { formSchema } from '../kit/question-forms.ts';
import { instructionsText, rewoundText, streamRestartText, wholeText } from '../kit/texts.ts';
import {
  type Calls,
  finalAnswer,
  type Inputs,
  NO_APPROVALS,
  NO_CALLS,
  NO_INPUTS,
  resultData,
  trackApprovals,
  trackCalls,
  trackInputs,
  type WaitingApprovals,
} from '../kit/tracking.ts';
import type { Body, Call, CallContent, Chunk, Form, Permission, Update } from './contract.ts';

/** Merges chunks of one message. */
const pieces: Pieces<Body> = {
  key(body) {
    const chunk = chunkIn(body);
    return chunk && `${chunk.sessionUpdate} ${chunk.messageId}`;
  },
  text: (body) => chunkIn(body)?.content.text ?? '',
  with(body, text) {
    const chunk = chunkIn(body);
    if (!chunk || body.method !== 'session/update') return body;
    return { ...body, params: { ...body.params, update: { ...chunk, content: { type: 'text', text } } } };
  },
};

export const projection: Projection<State, Body> = { start, step, attach, pieces };

export type State = {
  readonly session: string;
  readonly inputs: Inputs;
  readonly calls: Calls;
  readonly approvals: WaitingApprovals;
  /** questions that wait for an answer */
  readonly questions: readonly string[];
  /** the block being streamed */
  readonly block: string | null;
  /**
   * the connection that started the turn: the response to its prompt has the outcome that others receive as an
   * update
   */
  readonly via: ConnectionId | undefined;
  readonly titled: boolean;
};

/** Also used to replay a session from its first event. */
export function start({ ref, open, title, questions }: SessionSnapshot): State {
  return {
    ...IDLE,
    questions: questions.map(({ question }) => question),
    session: ref.id,
    inputs: NO_INPUTS,
    block: open?.block ?? null,
    titled: title !== '',
  };
}

const IDLE = { calls: NO_CALLS, approvals: NO_APPROVALS, questions: [], block: null, via: undefined };

export function step(before: State, event: SessionEvent): StepResult<State, Body> {
  const calls = trackCalls(before.calls, event);
  const inputs = trackInputs(before.inputs, event);
  const approvals = trackApprovals(before.approvals, event);
  const same = calls === before.calls && inputs === before.inputs && approvals === before.approvals;
  const state = same ? before : { ...before, calls, inputs, approvals };
  const [after, frames] = shown(before, state, event);
  const gone = [
    ...before.approvals.filter((waiting) => !approvals.includes(waiting)).map(({ approval }) => approval),
    ...before.questions.filter((question) => !after.questions.includes(question)),
  ];
  if (gone.length === 0) return [after, frames];
  return [after, [...gone.map((id) => ({ body: withdrawal(id) })), ...frames]];
}

/** `before` has the calls of a turn that ends. */
function shown(before: State, state: State, event: SessionEvent): StepResult<State, Body> {
  const seq = isDurable(event) ? event.seq : undefined;
  const say = (...updates: Update[]): Frame<Body>[] =>
    updates.map((update) => ({ body: updateBody(state.session, update, seq) }));
  if (!isTurnEvent(event)) {
    switch (event.type) {
      case 'session.renamed':
        return [{ ...state, titled: true }, say(titleUpdate(event.title, event.at))];
      case 'session.cleared':
        return [{ ...state, titled: false }, NONE];
      case 'history.imported':
        return [state, say(...historyUpdates(event))];
      case 'session.configured': {
        const mode = event.approval;
        return [state, mode ? say({ sessionUpdate: 'current_mode_update', currentModeId: mode }) : NONE];
      }
      default:
        return [state, NONE];
    }
  }
  switch (event.type) {
    case 'text.delta':
    case 'reasoning.delta': {
      const kind = event.type === 'text.delta' ? 'agent_message_chunk' : 'agent_thought_chunk';
      const next = state.block === event.block ? state : { ...state, block: event.block };
      return [next, say(message(kind, event.text, event.block))];
    }
    case 'text.ended':
    case 'reasoning.ended': {
      const kind = event.type === 'text.ended' ? 'agent_message_chunk' : 'agent_thought_chunk';
      const wasStreamed = state.block === event.block || event.text === '';
      return [{ ...state, block: null }, wasStreamed ? NONE : say(message(kind, event.text, event.block))];
    }
    case 'input.accepted': {
      const title = state.titled ? '' : titleOf(event.parts);
      if (title === '') return [state, NONE];
      return [{ ...state, titled: true }, say(titleUpdate(title, event.at))];
    }
    case 'turn.started': {
      const input = before.inputs[event.input];
      const words = input ? say(...userMessage(input.parts, event.input)) : [];
      return [{ ...state, via: input?.via }, words.map((frame) => exceptFor(frame, input?.via))];
    }
    case 'input.joined': {
      const input = before.inputs[event.input];
      const words = input ? say(...userMessage(input.parts, event.input)) : [];
      return [state, words.map((frame) => exceptFor(frame, input?.via))];
    }
    case 'files.rewound':
      return [state, say(message('agent_message_chunk', rewoundText(event), event.id))];
    case 'turn.resumed':
      return [{ ...state, block: null }, NONE];
    case 'step.restarted': {
      const words = streamRestartText(event);
      return [{ ...state, block: null }, words === null ? NONE : say(thought(words, event.id))];
    }
    case 'limit.approached':
      return [state, say(thought(limitNotice(event.limit), event.id))];
    case 'instructions.changed': {
      const words = instructionsText(event);
      return [state, words === null ? NONE : say(thought(words, event.id))];
    }
    case 'agent.changed':
      return [
        state,
        say(thought(`${event.from.name} hands over to ${event.to.name}: ${event.reason}`, event.id)),
      ];
    case 'call.requested':
      return [state, say({ sessionUpdate: 'tool_call', ...callFields(event) })];
    case 'approval.requested': {
      const call = state.calls[event.call];
      return [
        state,
        [
          {
            body: permissionRequest(state.session, {
              ...event,
              tool: call?.tool ?? '',
              input: call?.input ?? {},
            }),
          },
        ],
      ];
    }
    case 'approval.explained':
      return [state, say(thought(event.text, event.id))];
    case 'tool.started': {
      const title = event.child && { title: pathText(event.child.path) };
      const started = { toolCallId: event.call, status: 'in_progress', ...title } as const;
      return [state, say({ sessionUpdate: 'tool_call_update', ...started })];
    }
    case 'tool.ended': {
      const call = before.calls[event.call];
      const isOk = event.outcome === 'ok';
      const plan = call && isOk ? planOf(call) : null;
      const data = resultData(event);
      const ended: Update = {
        sessionUpdate: 'tool_call_update',
        toolCallId: event.call,
        status: isOk ? 'completed' : 'failed',
        content: [...(call && isOk ? diffsOf(call) : []), ...contentsOf(event.parts)],
        ...(data && { rawOutput: data as never }),
      };
      const answer = finalAnswer(event);
      return [
        state,
        say(
          ended,
          ...(plan ? [{ sessionUpdate: 'plan' as const, entries: plan }] : []),
          ...(answer === null ? [] : [message('agent_message_chunk', answer, event.id)]),
        ),
      ];
    }
    case 'turn.ended':
    case 'turn.cancelled':
      return [{ ...state, ...IDLE }, say(...usage(event.context))];
    case 'turn.failed': {
      const [failed] = say(thought(event.fault.message, event.id));
      const used = say(...usage(event.context));
      return [{ ...state, ...IDLE }, failed ? [exceptFor(failed, state.via), ...used] : used];
    }
    case 'question.asked': {
      const [otherwise] = say(questionMessage(event));
      const asked = { ...state, questions: [...state.questions, event.question] };
      return [asked, [{ body: formRequest(state.session, event), otherwise: otherwise?.body }]];
    }
    case 'question.repeated':
      return [state, say(questionMessage(event))];
    case 'question.answered':
      return [{ ...state, questions: state.questions.filter((open) => open !== event.question) }, NONE];
    case 'input.cancelled':
    case 'approval.answered':
    case 'step.ended':
    case 'call.deferred':
    case 'call.delegated':
    case 'call.arguments.delta':
      return [state, NONE];
    case 'call.progress': {
      const { call: toolCallId, message: text } = event;
      if (text === undefined) return [state, NONE];
      const content = contentsOf([textPart(text)]);
      return [state, say({ sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress', content })];
    }
  }
}

/** The text being streamed, pending approvals and questions. */
function attach({ session }: State, { open, approvals, questions }: SessionSnapshot): Body[] {
  const kind = open?.kind === 'text' ? 'agent_message_chunk' : 'agent_thought_chunk';
  const text = open && open.text !== '' ? [updateBody(session, message(kind, open.text, open.block))] : [];
  return [
    ...text,
    ...approvals.map((waiting) => permissionRequest(session, waiting)),
    ...questions.map((waiting) => formRequest(session, waiting)),
  ];
}

const exceptFor = (frame: Frame<Body>, except: ConnectionId | undefined): Frame<Body> =>
  except === undefined ? frame : { ...frame, except };

const thought = (text: string, id: string): Update => message('agent_thought_chunk', text, id);

const titleUpdate = (title: string, at: number): Update => ({
  sessionUpdate: 'session_info_update',
  title,
  updatedAt: new Date(at).toISOString(),
});

const usage = (context: { tokens: number; limit: number } | undefined): Update[] =>
  context ? [{ sessionUpdate: 'usage_update', used: context.tokens, size: context.limit }] : [];

type TextChunk = Chunk & { content: { type: 'text'; text: string } };

/** Null if the body is not a chunk of text. */
function chunkIn(body: Body): TextChunk | null {
  const update = body.method === 'session/update' ? body.params.update : null;
  return update && 'messageId' in update && update.content.type === 'text' ? (update as TextChunk) : null;
}

// Out: an imported conversation, as updates.

function historyUpdates({ id, input, items }: DurableEvent<'history.imported'>): Update[] {
  return items.flatMap((item, index) =>
    updatesOf(item, item.type === 'user' && input ? input : `${id}.${index}`),
  );
}

function updatesOf(item: HistoryItem, id: string): Update[] {
  switch (item.type) {
    case 'user':
      return userMessage(item.parts, id);
    case 'system':
      return [];
    case 'text':
      return [message('agent_message_chunk', item.text, item.id ?? id)];
    case 'reasoning':
      return [message('agent_thought_chunk', item.text, item.id ?? id)];
    case 'call':
      return [{ sessionUpdate: 'tool_call', ...callFields(item) }];
    case 'result':
      return [
        {
          sessionUpdate: 'tool_call_update',
          toolCallId: item.call,
          status: item.failed ? 'failed' : 'completed',
          content: contentsOf(item.parts),
        },
      ];
  }
}

// Messages

export const updateBody = (sessionId: string, update: Update, seq?: number): Body => ({
  jsonrpc: '2.0',
  method: 'session/update',
  params: { sessionId, update, ...(seq !== undefined && { _meta: { 'parlance/seq': seq } }) },
});

type PermissionWaiting = {
  readonly approval: ApprovalId;
  readonly call: CallId;
  readonly tool: string;
  readonly input: JsonObject;
  readonly ask: Ask;
};

type Option = Permission['options'][number];

const ONCE: Option = { optionId: 'once', name: 'Allow', kind: 'allow_once' };
const ALWAYS: Option = { optionId: 'always', name: 'Always allow', kind: 'allow_always' };
const DENY: Option = { optionId: 'deny', name: 'Reject', kind: 'reject_once' };

function permissionRequest(sessionId: string, waiting: PermissionWaiting): Body {
  const { approval, ask } = waiting;
  const diffs = diffsToApprove(ask, waiting);
  // Editors show title and content, but not all of them the raw input.
  const whole = diffs.length > 0 ? ask.description : wholeText(ask).trimEnd();
  const text = { type: 'content', content: { type: 'text', text: whole } } as const;
  return {
    jsonrpc: '2.0',
    id: approval,
    method: 'session/request_permission',
    params: {
      sessionId,
      toolCall: { ...callFields(waiting), content: [...diffs, text] },
      options: ask.grant === undefined ? [ONCE, DENY] : [ONCE, ALWAYS, DENY],
    },
  };
}

/** For clients that show forms. */
function formRequest(sessionId: string, asked: Omit<OpenQuestion, 'seq' | 'at'>): Body {
  const { question, call, path = [], title, questions } = visibleQuestion(asked);
  const from = path.length > 0 ? [`${pathText(path)} asks:`] : [];
  const message = [...from, ...(title ? [title] : []), ...questions.map(({ text }) => text)].join('\n');
  const { type, properties, required } = formSchema({ questions });
  const params: Form = {
    sessionId,
    ...(call !== undefined && { toolCallId: call }),
    mode: 'form',
    message,
    requestedSchema: { type, properties, required },
  };
  return { jsonrpc: '2.0', id: question, method: 'elicitation/create', params };
}

/** For other clients: the next prompt answers it. */
export const questionMessage = (
  asked: Parameters<typeof writtenQuestion>[0] & { readonly id: string },
): Update => message('agent_message_chunk', writtenQuestion(asked), asked.id);

/** The request no longer needs an answer. */
export const withdrawal = (requestId: string): Body => ({
  jsonrpc: '2.0',
  method: '$/cancel_request',
  params: { requestId },
});

const message = (
  sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk',
  text: string,
  messageId: string,
): Update => ({ sessionUpdate, content: { type: 'text', text }, messageId });

/** The message of a user, one chunk per part. */
const userMessage = (parts: readonly Part[], messageId: string): Update[] =>
  withoutPages(parts)
    .filter((part) => part.type !== 'text' || part.text !== '')
    .map((part) => ({ sessionUpdate: 'user_message_chunk', content: contentOf(part), messageId }));

function contentOf(part: PromptPart): Chunk['content'] {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image', mimeType: part.mime, data: part.data };
    case 'file':
      return { type: 'resource', resource: { uri: part.name, mimeType: part.mime, blob: part.data } };
  }
}

const contentsOf = (parts: readonly Part[]): CallContent[] =>
  withoutPages(parts).map((part) => ({ type: 'content', content: contentOf(part) }));

// Tool calls

type Diff = Extract<CallContent, { type: 'diff' }>;

const KINDS: Readonly<Record<string, Call['kind']>> = {
  read_file: 'read',
  list_files: 'read',
  search_files: 'search',
  web_search: 'search',
  fetch_page: 'fetch',
  apply_patch: 'edit',
  save_file: 'edit',
  shell: 'execute',
  local_shell: 'execute',
  update_plan: 'think',
};

const MAX_TITLE_LENGTH = 200;

type ToolUse = { readonly call: string; readonly tool: string; readonly input: JsonObject };

function callFields({ call, tool, input }: ToolUse): Call {
  const kind = KINDS[tool] ?? 'other';
  const paths = pathsOf(tool, input);
  return {
    toolCallId: call,
    title: callTitle(tool, input),
    name: tool,
    kind,
    status: 'pending',
    rawInput: visibleJson(input) as JsonObject,
    ...(paths.length > 0 && { locations: paths.map((path) => ({ path })) }),
  };
}

function callTitle(tool: string, input: JsonObject): string {
  const subject = subjectOf(input);
  const title = subject === null ? tool : KINDS[tool] === 'execute' ? subject : `${tool} ${subject}`;
  const line = visible(title).replace(/\s+/g, ' ').trim() || tool;
  return line.length <= MAX_TITLE_LENGTH ? line : `${line.slice(0, MAX_TITLE_LENGTH - 1)}…`;
}

/** The subject of the call, in one line. */
function subjectOf({ command, path, query, url, patch }: JsonObject): string | null {
  if (Array.isArray(command)) return command.map(String).join(' ');
  if (typeof patch === 'string')
    return (
      changesIn(patch)
        .map((change) => change.path)
        .join(', ') || null
    );
  const named = [path, query, url].find((value) => typeof value === 'string');
  return typeof named === 'string' ? named : null;
}

function pathsOf(tool: string, { path, patch }: JsonObject): string[] {
  if (KINDS[tool] !== 'read' && KINDS[tool] !== 'edit') return [];
  if (typeof patch === 'string') return changesIn(patch).map((change) => change.path);
  return typeof path === 'string' ? [path] : [];
}

/** The file changes of a call that writes files. */
function diffsOf({ tool, input }: Omit<ToolUse, 'call'>): Diff[] {
  if (tool === 'save_file' && typeof input.path === 'string' && typeof input.content === 'string')
    return [{ type: 'diff', path: input.path, oldText: null, newText: input.content }];
  if (tool === 'apply_patch' && typeof input.patch === 'string') return changesIn(input.patch);
  return [];
}

const diffsToApprove = ({ patch }: Ask, call: Omit<ToolUse, 'call'> | undefined): Diff[] =>
  patch === undefined ? (call ? diffsOf(call) : []) : changesIn(patch);

/** One diff per file, with the lines of the patch. Lenient, because this is only a preview. */
const changesIn = (patch: string): Diff[] =>
  patchedFiles(patch)
    .filter(({ change }) => change !== 'unknown')
    .map(({ change, path, moveTo, lines }) => {
      const without = (side: 'add' | 'remove'): string =>
        lines
          .flatMap(({ kind, text }) => (kind === 'keep' || (kind !== side && isChange(kind)) ? [text] : []))
          .join('\n');
      return {
        type: 'diff',
        path: moveTo ?? path,
        oldText: change === 'add' ? null : without('add'),
        newText: without('remove'),
      };
    });

const isChange = (kind: ShownLine['kind']): boolean => kind === 'add' || kind === 'remove';

/** The plan of the agent, if the call sets it. */
function planOf({
  tool,
  input,
}: Omit<ToolUse, 'call'>): Extract<Update, { sessionUpdate: 'plan' }>['entries'] | null {
  if (tool !== 'update_plan' || !Array.isArray(input.steps)) return null;
  return input.steps.flatMap((entry) => {
    const { step, status } = (entry ?? {}) as { step?: unknown; status?: unknown };
    if (typeof step !== 'string') return [];
    const known = status === 'in_progress' || status === 'completed' ? status : 'pending';
    return [{ content: step, priority: 'medium' as const, status: known }];
  });
}
