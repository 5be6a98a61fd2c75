/** Tools that a connected browser runs. Each row has the input, the effect and the timeout. */
import {
  type DurableEvent,
  isObject,
  type Json,
  type JsonObject,
  textOf,
  textPart,
} from '@parlance/protocol';
import { z } from 'zod';
import { type ClientTools, defineTool, type Tool, type ToolResult } from '../core/ports/tool.ts';

import { cutText, RESULT_LIMIT } from './cut.ts';

type Row = {
  readonly description: string;
  readonly input: z.ZodType<JsonObject>;
  readonly permissions: readonly string[];
  readonly timeoutMs: number;
  /** description of its effect; absent if it only reads */
  readonly changes?: (input: JsonObject) => string | null;
  /** the address that it requests, if any */
  readonly address?: (input: JsonObject) => Json | undefined;
};

const Address = z.url({ protocol: /^https?$/, error: 'must be an http or https address' });
const Selector = z.string().min(1).max(2_000).describe('A CSS selector.');
const Interaction = { permissions: ['browser_interaction'], timeoutMs: 30_000 };

const BROWSER_TOOLS = {
  extract_page_content: {
    description: 'Reads the text of the open page, of another address, or of one element.',
    input: z.object({ url: Address.optional(), selector: Selector.optional() }),
    permissions: ['content_extraction', 'page_access'],
    timeoutMs: 15_000,
    address: ({ url }) => url,
  },
  open_url: {
    description: 'Opens an address in the browser.',
    input: z.object({ url: Address, newTab: z.boolean().optional() }),
    changes: ({ url }) => `Opens ${url} in the browser.`,
    address: ({ url }) => url,
    permissions: ['navigation', 'tab_management'],
    timeoutMs: 45_000,
  },
  get_selected_text: {
    description: 'Reads the text that is selected in the open page.',
    input: z.object({}),
    ...Interaction,
  },
  scroll_to_element: {
    description: 'Scrolls the open page to an element.',
    input: z.object({ selector: Selector }),
    ...Interaction,
  },
  dom_manipulation: {
    description: 'Clicks an element of the open page, types into it, selects an option in it or submits it.',
    input: z
      .object({
        action: z.enum(['click', 'type', 'select', 'submit']),
        selector: Selector,
        value: z.string().optional().describe('The text to type, or the option to select.'),
      })
      .refine(({ action, value }) => value !== undefined || action === 'click' || action === 'submit', {
        path: ['value'],
        message: 'is required to type or select',
      }),
    changes: ({ action, selector, value }) =>
      `In the open page: ${action} ${selector}${value === undefined ? '' : ` with ${JSON.stringify(value)}`}.`,
    ...Interaction,
  },
  tab_management: {
    description: 'Lists, activates, closes or creates tabs.',
    input: z
      .object({
        action: z.enum(['list', 'activate', 'close', 'create']),
        tabId: z.number().int().optional(),
        url: Address.optional(),
      })
      .refine(({ action, tabId }) => tabId !== undefined || action === 'list' || action === 'create', {
        path: ['tabId'],
        message: 'is required to activate or close a tab',
      }),
    changes: ({ action, tabId, url }) =>
      action === 'list' || action === 'activate'
        ? null
        : `In the browser: ${action} tab ${tabId ?? url ?? ''}.`,
    address: ({ action, url }) => (action === 'create' ? url : undefined),
    ...Interaction,
  },
  storage_access: {
    description: "Reads, writes or removes a value in the browser's storage.",
    input: z
      .object({
        action: z.enum(['get', 'set', 'remove']),
        key: z.string().min(1).max(1_000),
        value: z.string().optional(),
      })
      .refine(({ action, value }) => value !== undefined || action !== 'set', {
        path: ['value'],
        message: 'is required to set a value',
      }),
    changes: ({ action, key }) => (action === 'get' ? null : `In the browser's storage: ${action} ${key}.`),
    ...Interaction,
  },
} satisfies Record<string, Row>;

export const browserTools = (clients: ClientTools): Tool[] =>
  Object.entries<Row>(BROWSER_TOOLS).map(([name, row]) => browserTool(name, row, clients));

function browserTool(name: string, row: Row, clients: ClientTools): Tool {
  let schema: JsonObject | null = null;
  return defineTool({
    exclusive: 'always',
    name,
    description: row.description,
    input: row.input,
    available: (owner) => clients.offers(owner, name),
    sends(parameters, { eventsSinceIdle }) {
      const address = row.address?.(parameters);
      return address === undefined
        ? Boolean(row.changes?.(parameters))
        : !isNamed(String(address), eventsSinceIdle);
    },
    // Runs without approval unless the context contains untrusted content: see `core/session/approvals.ts`.
    approval(parameters) {
      const description = row.changes?.(parameters);
      if (!description) return null;
      return { kind: 'browser', command: [name, JSON.stringify(parameters)], description };
    },
    run: async (parameters, { atClient }) => {
      const { permissions, timeoutMs } = row;
      const unavailable = `No browser extension client available for tool: ${name}`;
      schema ??= z.toJSONSchema(row.input, { io: 'input' }) as JsonObject;
      return shown(await atClient({ tool: name, parameters, schema, permissions, timeoutMs, unavailable }));
    },
  });
}

/** Whether the user wrote the whole address in the message of this turn. */
const isNamed = (address: string, events: readonly DurableEvent[]): boolean =>
  events.some((event) => {
    if (event.type !== 'input.accepted') return false;
    const [, ...rests] = textOf(event.parts).split(address);
    return rests.some((rest) => /^[.,;:!?)'"]*(?:\s|$)/.test(rest));
  });

/**
 * Pages can have any size: large results are cut, and then not repeated as data. Titles and addresses in a result are
 * untrusted, whatever the tool.
 */
function shown(result: Json): ToolResult {
  const text = typeof result === 'string' ? result : JSON.stringify(result);
  const parts = [textPart(cutText(text))];
  const data = isObject(result) && text.length <= RESULT_LIMIT ? { data: result } : {};
  return { parts, ...data, untrusted: true };
}
