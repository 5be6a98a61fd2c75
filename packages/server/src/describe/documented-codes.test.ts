/** The error codes in the hand-written parts of the dialect pages match the code. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { FAILED } from '../dialects/agentloop/outbound.ts';
import { FAULTS as COPILOT_FAULTS } from '../dialects/copilot/rest.ts';
import { CODES as PUSHER_CODES } from '../dialects/pusher/contract.ts';
import { DESCRIPTIONS } from './descriptions.ts';
import { payloadSchema } from './json-schema.ts';

const PAGES = join(import.meta.dir, '../../../../docs/dialects');

const pageOf = (dialect: string): Promise<string> => Bun.file(join(PAGES, `${dialect}.md`)).text();

/** The cells of a column in the table that follows a matching line. */
async function column(dialect: string, header: RegExp, index: number): Promise<string[]> {
  const lines = (await pageOf(dialect)).split('\n');
  const from = lines.findIndex((line) => header.test(line));
  const length = lines.slice(from).findIndex((line) => !line.startsWith('|'));
  return lines
    .slice(from + 2, from + length)
    .flatMap((line) => line.split('|')[index]?.split(',') ?? [])
    .map((word) => word.replaceAll('`', '').trim());
}

/** The codes in the schema of a dialect's `error` message. */
function errorCodes(dialect: string): string[] {
  const schema = DESCRIPTIONS.find(({ name }) => name === dialect)?.messages?.out.error?.schema;
  const found =
    schema && /"code":\{[^}]*?"enum":(\[[^\]]*\])/.exec(JSON.stringify(payloadSchema(schema, 'output')));
  return found?.[1] ? JSON.parse(found[1]) : [];
}

test.each(['conversations', 'extension'])('%s', async (dialect) => {
  const listed = await column(dialect, /^\| (error )?code +\|/, 1);
  expect(listed.length).toBeGreaterThan(2);
  expect(listed.sort()).toEqual(errorCodes(dialect).sort());
});

test('pusher', async () => {
  const listed = await column('pusher', /^\| code \| meaning \|/, 1);
  expect(listed.map(Number).sort()).toEqual(Object.values(PUSHER_CODES).sort());
});

test('copilot', async () => {
  const header = /^\| status \| code \| when \|/;
  const [statuses, codes] = [await column('copilot', header, 1), await column('copilot', header, 2)];
  const listed = statuses.map((status, index) => `${status} ${codes[index]}`);
  const faults = Object.values(COPILOT_FAULTS).map(({ status, code }) => `${status} ${code}`);
  // Two do not come from core faults: a failed login, and an unknown path.
  expect(new Set(listed)).toEqual(new Set([...faults, '401 INVALID_CREDENTIALS', '404 NOT_FOUND']));
});

test('agentloop', async () => {
  const page = await pageOf('agentloop');
  for (const text of Object.values(FAILED)) expect(page).toContain(`"${text}"`);
});
