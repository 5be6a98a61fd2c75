/** The golden files of protocols that others own fit the schemas of their official packages. */
import { describe, expect, test } from 'bun:test';
import { StreamResponse } from '@a2a-js/sdk';
import { EventSchemas } from '@ag-ui/core/schemas';
import acpSchema from '@agentclientprotocol/sdk/schema/v1/schema.json';
import { ServerNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { isObject } from '@parlance/protocol';
import { asSchema, uiMessageChunkSchema } from 'ai';
import { z } from 'zod';
import { goldenNames, goldenPath, readText } from '../testing/transcripts.ts';

type Line = Readonly<Record<string, unknown>>;

const ACP = {
  'session/update': 'SessionNotification',
  'session/request_permission': 'RequestPermissionRequest',
  'elicitation/create': 'CreateElicitationRequest',
  '$/cancel_request': 'CancelRequestNotification',
};
/** Without the alternatives for what later versions may add. */
const known: object = JSON.parse(JSON.stringify(acpSchema), (_, value) =>
  Array.isArray(value) ? value.filter((one) => !(isObject(one) && 'not' in one)) : value,
);
const acp = Object.fromEntries(
  Object.entries(ACP).map(([method, name]) => [
    method,
    z.fromJSONSchema({ ...known, anyOf: undefined, $ref: `#/$defs/${name}` } as never),
  ]),
);

/** Throws if a line does not fit. */
const CHECKS: Readonly<Record<string, (line: Line) => unknown>> = {
  /** A line with a frame for some clients and another one for the rest has both. */
  acp: (line) => {
    for (const { method, params } of 'body' in line ? [line.body as Line, line.otherwise as Line] : [line])
      acp[String(method)]?.parse(params) ?? expect.unreachable(String(method));
  },
  agui: ({ event }) => event === undefined || EventSchemas.parse(event),
  aisdk: async ({ chunk }) => {
    if (chunk === undefined) return;
    const checked = await asSchema(uiMessageChunkSchema as never).validate?.(chunk);
    if (!checked?.success) throw checked?.error ?? new Error('not checked');
  },
  mcp: (line) => ServerNotificationSchema.parse(line),
  /** Its reader loses what it does not know, and its writer leaves out `false`. */
  a2a: (line) =>
    expect(StreamResponse.toJSON(StreamResponse.fromJSON(line))).toEqual(
      JSON.parse(JSON.stringify(line), (_key, value) => (value === false ? undefined : value)),
    ),
};

const WRONG: Readonly<Record<keyof typeof CHECKS, Line>> = {
  acp: { method: 'session/update', params: { sessionId: 's', update: { sessionUpdate: 'tool_call' } } },
  agui: { event: { type: 'TEXT_MESSAGE_CONTENT', messageId: 1, delta: 'x' } },
  aisdk: { chunk: { type: 'text-delta', id: 'x' } },
  mcp: { jsonrpc: '2.0', method: 'notifications/resources/updated', params: {} },
  a2a: { statusUpdate: { task: 'x' } },
};

for (const [dialect, check] of Object.entries(CHECKS))
  describe(`golden files of ${dialect}`, () => {
    test('a wrong frame is found', async () => {
      expect(await Promise.try(check, WRONG[dialect] ?? {}).catch(() => 'found')).toBe('found');
    });
    for (const name of goldenNames(dialect))
      test(name, async () => {
        const lines = (readText(goldenPath(dialect, name)) ?? '').split('\n').filter(Boolean);
        for (const line of lines) await check(JSON.parse(line));
      });
  });
