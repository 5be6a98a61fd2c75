import { describe, expect, test } from 'bun:test';
import { PROJECTED } from '../dialects/index.ts';
import { EXAMPLE_IDS, messageName } from '../dialects/kit/description.ts';
import { projection as turnUpdates } from '../dialects/kit/turn-updates.ts';
import { goldenNames, goldenPath, readText } from '../testing/transcripts.ts';
import { asyncApiDocument, asyncApiText, hasSocket } from './asyncapi.ts';
import { DESCRIPTIONS } from './descriptions.ts';

/** By a name that the compiler does not follow: the types of the package declare the DOM for the whole project. */
const PACKAGE: string = '@asyncapi/parser';
type Listed = { all(): readonly { id(): string }[] };
type Document = {
  version(): string;
  channels(): Listed & { get(id: string): { messages(): Listed } | undefined };
};
type Diagnostic = { readonly code: string; readonly severity: number };
const { Parser } = (await import(PACKAGE)) as {
  Parser: new () => {
    parse(text: string): Promise<{ document?: Document; diagnostics: readonly Diagnostic[] }>;
    validate(text: string): Promise<readonly Diagnostic[]>;
  };
};

const spoken = DESCRIPTIONS.filter(hasSocket);

test('the AsyncAPI parser finds no error in it', async () => {
  const { document, diagnostics } = await new Parser().parse(asyncApiText(DESCRIPTIONS));
  // The only remark is that there is a later version of the specification.
  expect(diagnostics.filter(({ code }) => code !== 'asyncapi-latest-version')).toEqual([]);
  expect(document?.version()).toBe('3.0.0');
  const channels = document?.channels().all() ?? [];
  expect(channels.map((channel) => channel.id()).sort()).toEqual(spoken.map(({ name }) => name).sort());
  for (const { name, messages } of spoken) {
    const described = document?.channels().get(name)?.messages().all() ?? [];
    expect(described.length).toBe(Object.keys(messages.in).length + Object.keys(messages.out).length);
  }
});

test('the AsyncAPI parser finds a message that is referenced but not described', async () => {
  const { channels, ...rest } = asyncApiDocument(DESCRIPTIONS);
  const { broadcast, ...others } = channels;
  const broken = { ...rest, channels: { ...others, broadcast: { ...broadcast, messages: {} } } };
  const diagnostics = await new Parser().validate(JSON.stringify(broken));
  expect(diagnostics.filter(({ severity }) => severity === 0).length).toBeGreaterThan(0);
});

describe.each(spoken.map((one) => [one.name, one] as const))('%s', (name, { socket, messages }) => {
  test('examples match the schemas of their messages', () => {
    for (const [type, { schema, examples }] of Object.entries(messages.in)) {
      const all = examples(EXAMPLE_IDS);
      for (const { frame } of all) {
        expect(schema.safeParse(frame).error).toBeUndefined();
        expect(messageName(socket, frame as Record<string, unknown>)).toBe(type);
      }
      expect(new Set(all.map(({ title }) => title)).size).toBe(all.length);
    }
    for (const { schema, example } of Object.values(messages.out))
      expect(schema.parse(example)).toEqual(example);
  });

  test('every golden frame matches the schema of its message', () => {
    // These golden files have updates of a turn; frames.test.ts checks what is made of them.
    if (PROJECTED.some((dialect) => dialect.name === name && dialect.projection === turnUpdates)) return;
    for (const scenario of goldenNames(name)) {
      for (const line of (readText(goldenPath(name, scenario)) ?? '').trim().split('\n')) {
        const { body, otherwise, ...whole } = JSON.parse(line);
        const frames = otherwise ? [body, otherwise] : ['except' in whole ? body : whole];
        for (const frame of frames) {
          const schema = messages.out[messageName(socket, frame)]?.schema;
          expect([scenario, frame, schema?.safeParse(frame).success]).toEqual([scenario, frame, true]);
        }
      }
    }
  });

  test('a field that is not described is an error', () => {
    for (const { schema, example } of Object.values(messages.out))
      expect(schema.safeParse({ ...example, surprise: true }).success).toBe(false);
  });
});
