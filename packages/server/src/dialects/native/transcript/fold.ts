/** A session as a list of messages, for documents. Pure. */

import type { DurableEvent, HistoryItem, JsonObject, Outcome, Part } from '@parlance/protocol';
import { finalAnswer } from '../../shared/calls.ts';

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

/** Replaced messages and discarded steps are left out, as in the chat. */
export async function entriesOf(events: AsyncIterable<DurableEvent>): Promise<Entry[]> {
  let entries: Entry[] = [];
  /** the entries before the current step */
  let settled = 0;
  for await (const event of events) {
    const { seq, at } = event;
    const add = (entry: DistributiveOmit<Entry, 'seq' | 'at'>) =>
      entries.push({ seq, at, ...entry } as Entry);
    switch (event.type) {
      case 'input.accepted':
        if (!event.call && event.parts.length > 0) add({ kind: 'user', parts: event.parts });
        break;
      case 'history.imported':
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
        entries = entries.map((entry) =>
          entry.kind === 'call' && entry.call === call ? { ...entry, result: { outcome, parts } } : entry,
        );
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
        entries = entries.filter(({ kind }, index) => index < settled || kind === 'user');
        break;
      case 'turn.failed':
        add({ kind: 'note', text: event.fault.message });
        break;
      case 'session.cleared':
        add({ kind: 'note', text: 'The context was cleared.' });
        break;
      case 'session.rewound':
        entries = entries.filter((entry) => entry.seq < event.from);
        break;
    }
  }
  return entries;
}

type DistributiveOmit<Of, Key extends PropertyKey> = Of extends unknown ? Omit<Of, Key> : never;

function imported(item: HistoryItem): DistributiveOmit<Entry, 'seq' | 'at'>[] {
  if (item.type === 'user') return [{ kind: 'user', parts: item.parts }];
  return item.type === 'text' ? [{ kind: 'agent', text: item.text, interrupted: false }] : [];
}
