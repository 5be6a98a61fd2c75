/** The events of the protocol with their fields, as Markdown. Types come from the schemas, descriptions from comments. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import * as protocol from '../../packages/protocol/src/index.ts';
import { commentsIn } from './comments.ts';
import { isOptional, type Names, structure, typeText } from './type-text.ts';

const SOURCES = join(import.meta.dir, '../../packages/protocol/src');

/** Fields that several events spread from a constant. */
const SPREAD = ['TURN_OPTIONS', 'ANSWER_TERMS'];

/** Descriptions of fields without a comment, by type or name. */
const BY_TYPE: Readonly<Record<string, string>> = {
  AgentRef: 'the agent',
  ApprovalId: 'id of the approval',
  ApprovalMode: 'what runs without approval',
  Ask: 'what is shown to the person who decides',
  BlockId: 'id of the block of text or reasoning',
  CallId: 'id of the tool call',
  ConnectionId: 'the connection of the client',
  ContextUse: 'use of the model’s context',
  DirectCall: 'a call without the model, instead of a message',
  FaultData: 'what went wrong',
  InputId: 'id of the input',
  ModelOptions: 'options of the model',
  'Part[]': 'content',
  Sealed: 'data of the model’s vendor',
  TurnId: 'id of the turn',
  Usage: 'tokens used',
};
const BY_NAME: Readonly<Record<string, string>> = {
  attempt: 'number of the next attempt',
  by: 'the principal who did it',
  delayMs: 'delay before it',
  dialect: 'the protocol of the client',
  domain: 'id of the domain',
  durationMs: 'how long it took',
  execution: 'id of the execution at the client',
  interrupted: 'the turn was cancelled during the block',
  key: 'idempotency key of the client',
  model: 'name of the model',
  progress: 'percentage',
  reason: 'why',
  text: 'the text, in full; of a delta, the next part',
  title: 'the new title',
  tool: 'name of the tool',
};

const comments = new Map(
  readdirSync(SOURCES)
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .flatMap((name) => [...commentsIn(readFileSync(join(SOURCES, name), 'utf8'))]),
);

const names: Names = new Map(
  Object.entries(protocol).flatMap(([name, value]) => (value instanceof z.ZodType ? [[value, name]] : [])),
);

export function eventReference(): string[] {
  const used = new Set<string>();
  const lines: string[] = [];
  for (const durable of [true, false]) {
    lines.push(durable ? '### Durable events' : '### Ephemeral events', '');
    for (const [type, { body, ...event }] of Object.entries(protocol.EVENTS))
      if (event.durable === durable) lines.push(...eventSection(type, body, used));
  }
  return [...lines, '### Types', '', ...typeTable(used)];
}

function eventSection(type: string, body: z.ZodObject, used: Set<string>): string[] {
  const comment = comments.get(type);
  const fields = Object.entries(body.shape as Record<string, z.ZodType>).map(([field, schema]) => {
    const owners = [type, ...SPREAD.filter(() => isSpread(schema))];
    const comment = owners.map((owner) => comments.get(`${owner}.${field}`)).find((text) => text);
    const text = typeText(schema, names, used);
    const meaning = comment ?? BY_TYPE[text.replace(' | null', '')] ?? BY_NAME[field];
    return row(`${field}${isOptional(schema) ? '?' : ''}`, text, meaning);
  });
  return [
    `#### \`${type}\``,
    '',
    ...(comment ? [comment, ''] : []),
    '| field | type | |',
    '|---|---|---|',
    ...fields,
    '',
  ];
}

const spread = new Set<unknown>(
  [protocol.TURN_OPTIONS, protocol.ANSWER_TERMS].flatMap((terms) => Object.values(terms)),
);
const isSpread = (schema: z.ZodType): boolean => spread.has(schema);

/** Named types that fields mention, directly or indirectly. */
function typeTable(used: Set<string>): string[] {
  const rows = new Map<string, string>();
  const schemas = new Map([...names].map(([schema, name]) => [name, schema as z.ZodType]));
  for (let size = -1; size !== used.size; ) {
    size = used.size;
    for (const name of [...used]) {
      const schema = schemas.get(name);
      if (schema && !rows.has(name))
        rows.set(name, row(name, structure(schema, names, used), comments.get(name)));
    }
  }
  return ['| name | type | |', '|---|---|---|', ...[...rows].sort().map(([, line]) => line)];
}

const row = (name: string, type: string, meaning = ''): string =>
  `| \`${name}\` | \`${type.replaceAll('|', '\\|')}\` | ${meaning.replaceAll('|', '\\|')} |`;
