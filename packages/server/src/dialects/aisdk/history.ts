/** The messages of a session, made from the same frames as the streams. */
import type { DurableEvent, HistoryItem, InputId, Part, SessionEvent, TurnId } from '@parlance/protocol';
import { textOf } from '@parlance/protocol';
import type { Engine, SessionRef, SessionSnapshot } from '../../core/api/index.ts';
import type { Frame } from '../shared/projection.ts';
import { fileUrl, linkedFile } from './files.ts';
import { messageId, metadataOf, type StoredInput } from './message-ids.ts';
import { type Body, joined, START, step } from './projection.ts';
import { MessageBuilder, type UIMessage, type UIPart } from './ui-message.ts';

/** Of a longer session only the latest messages are shown. */
const MOST_MESSAGES = 2_000;

export type History = { readonly snapshot: SessionSnapshot; readonly messages: readonly UIMessage[] };

/** A running answer is included as far as it is known. */
export async function historyOf(engine: Engine, ref: SessionRef): Promise<History> {
  const fold = new HistoryFold();
  let snapshot: SessionSnapshot | null = null;
  const watch = await engine.watch(ref, (event) => snapshot ?? fold.add(event), {
    after: 0,
    begin(now) {
      snapshot = now.snapshot();
      fold.join(snapshot);
    },
  });
  watch.stop();
  return { snapshot: snapshot ?? watch.snapshot(), messages: fold.messages() };
}

type Entry = { readonly input: InputId | null; readonly message: UIMessage };

export class HistoryFold {
  #state = START;
  #entries: Entry[] = [];
  /** queued messages */
  readonly #waiting = new Map<InputId, UIMessage>();
  readonly #builders = new Map<TurnId, MessageBuilder>();

  add(event: SessionEvent): void {
    switch (event.type) {
      case 'history.imported':
        this.#push(...importedEntries(event));
        break;
      case 'input.accepted': {
        const message = userMessage(event);
        if (message) this.#waiting.set(event.input, message);
        break;
      }
      case 'input.cancelled':
        this.#waiting.delete(event.input);
        break;
      case 'turn.started':
        this.#begin(event);
        break;
      case 'session.rewound': {
        const from = this.#entries.findIndex(({ input }) => input === event.input);
        if (from >= 0) this.#entries.splice(from);
        break;
      }
      case 'session.cleared':
        this.#entries = [];
    }
    const [state, frames] = step(this.#state, event);
    this.#state = state;
    this.#show(frames);
  }

  /** Adds the block being streamed. */
  join(now: SessionSnapshot): void {
    this.#show(joined(this.#state, now)[1]);
  }

  messages(): UIMessage[] {
    const begun = this.#entries.map(({ message }) => message).filter(({ parts }) => parts.length > 0);
    return [...begun, ...this.#waiting.values()].slice(-MOST_MESSAGES);
  }

  #begin({ turn, input }: DurableEvent<'turn.started'>): void {
    const asked = this.#waiting.get(input);
    this.#waiting.delete(input);
    if (asked) this.#push({ input, message: asked });
    const builder = new MessageBuilder(turn);
    this.#builders.clear();
    this.#builders.set(turn, builder);
    this.#push({ input: asked ? null : input, message: builder.message });
  }

  #push(...entries: Entry[]): void {
    this.#entries.push(...entries);
    if (this.#entries.length > 2 * MOST_MESSAGES) this.#entries = this.#entries.slice(-MOST_MESSAGES);
  }

  #show(frames: readonly Frame<Body>[]): void {
    for (const { body } of frames) if ('chunk' in body) this.#builders.get(body.turn)?.add(body.chunk);
  }
}

/** Null if the input has no message: it lets the model continue. */
function userMessage(event: DurableEvent<'input.accepted'>): UIMessage | null {
  const { parts, call } = event;
  if (parts.length === 0 && !call) return null;
  const called = call ? `${call.tool} ${JSON.stringify(call.input)}` : '';
  const metadata = metadataOf(event);
  return {
    id: idOf(event),
    role: 'user',
    ...(metadata !== undefined && { metadata }),
    parts: parts.length > 0 ? parts.map(userPart) : [{ type: 'text', text: called }],
  };
}

const idOf = (event: StoredInput): string => messageId(event) ?? event.id;

const userPart = (part: Part): UIPart =>
  part.type === 'text'
    ? part.link
      ? linkedFile(part.link)
      : { type: 'text', text: part.text }
    : {
        type: 'file',
        mediaType: part.mime,
        ...(part.type === 'file' && { filename: part.name }),
        url: fileUrl(part),
      };

/** The message of the user, and the reply to it as one message. */
function importedEntries(event: DurableEvent<'history.imported'>): Entry[] {
  const { input, items } = event;
  const [first, ...rest] = items;
  const user = first?.type === 'user' ? first : null;
  const answer = importedParts(user ? rest : items);
  return [
    ...(user && input
      ? [{ input, message: { id: idOf(event), role: 'user' as const, parts: user.parts.map(userPart) } }]
      : []),
    ...(answer.length > 0
      ? [{ input: null, message: { id: answerId(event), role: 'assistant' as const, parts: answer } }]
      : []),
  ];
}

/** The id of the page, if the history came from one. */
const answerId = ({ id, dialect, items }: DurableEvent<'history.imported'>): string =>
  (dialect === 'aisdk' && items.flatMap((item) => ('id' in item ? (item.id ?? []) : []))[0]) || id;

function importedParts(items: readonly HistoryItem[]): UIPart[] {
  const results = new Map(items.flatMap((item) => (item.type === 'result' ? [[item.call, item]] : [])));
  return items.flatMap((item): UIPart[] => {
    if (item.type === 'text' || item.type === 'reasoning')
      return [{ type: item.type, text: item.text, state: 'done' }];
    if (item.type !== 'call') return [];
    const { call: toolCallId, tool: toolName, input } = item;
    const result = results.get(toolCallId);
    const text = textOf(result?.parts ?? []);
    const outcome =
      result && !result.failed
        ? { state: 'output-available' as const, output: text }
        : { state: 'output-error' as const, errorText: text || 'aborted' };
    return [{ type: 'dynamic-tool', toolCallId, toolName, providerExecuted: true, input, ...outcome }];
  });
}
