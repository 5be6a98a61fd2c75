/** A session as a document: a list of messages. Pure. */

import {
  type DurableEvent,
  type HistoryItem,
  type JsonObject,
  type Outcome,
  type Part,
  titleOf,
} from '@parlance/protocol';
import { rewoundText } from '../../kit/texts.ts';
import { finalAnswer } from '../../kit/tracking.ts';

export type Entry = { readonly seq: number; readonly at: number } & (
  | { readonly kind: 'user'; readonly parts: readonly Part[] }
  | { readonly kind: 'agent'; readonly text: string; readonly interrupted: boolean }
  | {
      readonly kind: 'call';
      readonly call: string;
      readonly tool: string;
      readonly input: JsonObject;
      readonly result: Result | null;
    }
  | { readonly kind: 'note'; readonly text: string }
);

type Result = { readonly outcome: Outcome; readonly parts: readonly Part[] };

/** Title and messages as of the last event. Replaced messages and discarded steps are left out, as in the chat. */
export async function transcriptOf(
  events: AsyncIterable<DurableEvent>,
): Promise<{ title: string; entries: Entry[] }> {
  const entries: Entry[] = [];
  let title = '';
  /** by the last rewind */
  let removed: Entry[] = [];
  /** the entries before the current step */
  let settled = 0;
  for await (const event of events) {
    const { seq, at } = event;
    const add = (entry: DistributiveOmit<Entry, 'seq' | 'at'>) =>
      entries.push({ seq, at, ...entry } as Entry);
    switch (event.type) {
      case 'session.renamed':
        title = event.title;
        break;
      case 'input.accepted':
        title ||= titleOf(event.parts);
        if (!event.call && event.parts.length > 0) add({ kind: 'user', parts: event.parts });
        break;
      case 'history.imported':
        if (event.items[0]?.type === 'user') title ||= titleOf(event.items[0].parts);
        for (const entry of event.items.flatMap(imported)) add(entry);
        break;
      case 'text.ended':
        if (event.text !== '')
          add({ kind: 'agent', text: event.text, interrupted: event.interrupted === true });
        break;
      case 'call.requested':
        add({ kind: 'call', call: event.call, tool: event.tool, input: event.input, result: null });
        break;
      case 'tool.ended': {
        const { call, outcome, parts } = event;
        const index = entries.findLastIndex((entry) => entry.kind === 'call' && entry.call === call);
        const entry = entries[index];
        if (entry?.kind === 'call') entries[index] = { ...entry, result: { outcome, parts } };
        const answer = finalAnswer(event);
        if (answer !== null) add({ kind: 'agent', text: answer, interrupted: false });
        settled = entries.length;
        break;
      }
      case 'turn.started':
      case 'step.ended':
        settled = entries.length;
        break;
      case 'step.restarted':
      case 'turn.resumed':
        for (const entry of entries.splice(settled)) if (entry.kind === 'user') entries.push(entry);
        break;
      case 'turn.failed':
        add({ kind: 'note', text: event.fault.message });
        break;
      case 'session.cleared':
        add({ kind: 'note', text: 'The context was cleared.' });
        break;
      case 'session.rewound': {
        const from = entries.findIndex(({ seq }) => seq >= event.from);
        removed = from < 0 ? [] : entries.splice(from);
        break;
      }
      case 'session.restored':
        entries.push(...removed);
        break;
      case 'files.rewound':
        add({ kind: 'note', text: rewoundText(event) });
        break;
    }
  }
  return { title, entries };
}

type DistributiveOmit<Of, Key extends PropertyKey> = Of extends unknown ? Omit<Of, Key> : never;

function imported(item: HistoryItem): DistributiveOmit<Entry, 'seq' | 'at'>[] {
  if (item.type === 'user') return [{ kind: 'user', parts: item.parts }];
  return item.type === 'text' ? [{ kind: 'agent', text: item.text, interrupted: false }] : [];
}

export type Document = {
  readonly title: string;
  readonly agent: string;
  readonly createdAt: number;
  readonly entries: readonly Entry[];
};

export const documentOf = (
  { createdAt }: { readonly createdAt: number },
  { title, entries }: Pick<Document, 'title' | 'entries'>,
): Document => ({ title: title || 'Untitled', agent: 'Assistant', createdAt, entries });

export const timeOf = (at: number): string => new Date(at).toISOString().slice(0, 16).replace('T', ' ');
