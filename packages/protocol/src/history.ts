/** A conversation that is imported into a session. */
import { z } from 'zod';
import { CallId } from './ids.ts';
import { JsonValue } from './json.ts';
import { Part } from './parts.ts';

/** id of the client's message, if it has one: clients see the message under the same id */
const id = z.string().min(1).max(200).optional();

/** An instruction for the model at this position of the conversation. */
export const SystemText = z.string().max(200_000);

export const HistoryItem = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('user'),
    parts: z.array(Part).min(1).max(100),
    /** idempotency key of the message: an input with the same key is not accepted again */
    key: z.string().min(1).max(200).optional(),
  }),
  /** an instruction for the model at this place; not shown as a message */
  z.strictObject({ type: z.literal('system'), text: SystemText.min(1) }),
  /** of the assistant */
  z.strictObject({ type: z.literal('text'), text: z.string().min(1), id }),
  z.strictObject({ type: z.literal('reasoning'), text: z.string().min(1), id }),
  z.strictObject({
    type: z.literal('call'),
    call: CallId,
    tool: z.string().min(1).max(200),
    input: z.record(z.string(), JsonValue),
    id,
  }),
  z.strictObject({
    type: z.literal('result'),
    call: CallId,
    parts: z.array(Part).max(100),
    failed: z.boolean().optional(),
    id,
  }),
]);
export type HistoryItem = z.infer<typeof HistoryItem>;

export const MAX_HISTORY_ITEMS = 5_000;

/** In order. Every call has one result, before the next user or system message. */
export const History = z
  .array(HistoryItem)
  .max(MAX_HISTORY_ITEMS)
  .superRefine((items, context) => {
    const wrong = wrongItem(items);
    if (wrong) context.addIssue({ code: 'custom', path: [wrong.index], message: wrong.message });
  });

type HistoryProblem = { readonly index: number; readonly message: string };

/** The first invalid item: model APIs refuse a result without its call, and vice versa. */
function wrongItem(items: readonly HistoryItem[]): HistoryProblem | null {
  const seen = new Set<string>();
  const open = new Map<string, number>();
  const unanswered = (): HistoryProblem | null => {
    const [first] = open;
    return first ? { index: first[1], message: `the call ${first[0]} has no result` } : null;
  };
  for (const [index, item] of items.entries()) {
    if (item.type === 'user' || item.type === 'system') {
      const wrong = unanswered();
      if (wrong) return wrong;
    } else if (item.type === 'call') {
      if (seen.has(item.call)) return { index, message: `there are two calls ${item.call}` };
      seen.add(item.call);
      open.set(item.call, index);
    } else if (item.type === 'result' && !open.delete(item.call)) {
      const message = seen.has(item.call) ? 'has two results' : 'was not made';
      return { index, message: `the call ${item.call} ${message}` };
    }
  }
  return unanswered();
}
