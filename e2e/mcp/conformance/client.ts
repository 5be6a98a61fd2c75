/**
 * The client of Parlance as the conformance suite runs it: `client.ts URL`. It connects, calls each tool, and does what a
 * user would: it follows links to sign in, and answers questions with what they suggest.
 */
import {
  type Answers,
  checkAnswers,
  isObject,
  type Json,
  type JsonObject,
  type QuestionContent,
} from '@parlance/protocol';
import type { ToolResult } from '../../../packages/server/src/core/ports/tool.ts';
import { opened } from '../../../packages/server/src/testing/tools/mcp.ts';
import { contextIn, use } from '../../../packages/server/src/testing/tools/tool-context.ts';

const SERVER = 'suite';
const ORIGIN = 'http://127.0.0.1:3000';
const USER = { user: 'local', mayShare: true };
/** As the suite expects it of clients that have such a document. */
const CLIENT_DOCUMENT = 'https://conformance-test.local/client-metadata.json';
/** A user gives up after that many sign-ins. */
const SIGN_INS = 3;

type Given = {
  readonly toolCalls?: readonly {
    readonly name: string;
    readonly arguments: { readonly [key: string]: Json };
  }[];
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly issuer?: string;
};
const given: Given = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const oauth = given.client_id !== undefined && {
  oauth: {
    clientId: given.client_id,
    ...(given.client_secret !== undefined && { clientSecret: given.client_secret }),
    issuer: given.issuer ?? 'http://localhost',
  },
};

await using mcp = await opened({ [SERVER]: { url: process.argv[2], ...oauth } }, 20, undefined, {
  clientDocument: CLIENT_DOCUMENT,
});

/** Does what the browser of a user does. */
async function follow(link: string): Promise<void> {
  const response = await fetch(link, { redirect: 'manual' });
  const back = new URL(response.headers.get('location') ?? link);
  await mcp.signIn.finish(USER, back.searchParams);
}

for (let tries = 0; mcp.servers()[0]?.state === 'sign-in' && tries < SIGN_INS; tries++)
  await follow(await mcp.signIn.begin(SERVER, USER, ORIGIN));

/** The answers that a question suggests; otherwise the first option, or the text "test". */
async function answerTo({ questions }: QuestionContent): Promise<Answers> {
  const [first] = questions;
  if (first?.link && first.options[0]?.label === 'Done') await follow(first.link);
  const suggested = checkAnswers({ questions }, {});
  if ('outcome' in suggested && suggested.outcome === 'answered') return suggested.answers;
  return Object.fromEntries(questions.map(({ id, options }) => [id, [options[0]?.label ?? 'test']]));
}

async function call(name: string, input: unknown): Promise<ToolResult> {
  const tool = mcp.named(`mcp_${SERVER}_${name}`);
  let result = await use(tool, input, contextIn('/'));
  while (result.asks) {
    const { question, resume } = result.asks;
    const answer = { resume, answers: await answerTo(question) };
    result = await use(tool, input, contextIn('/', { answer }));
  }
  return result;
}

/** A value for each required argument. `example`: what an object may be. */
function inputFor(schema: unknown, example: JsonObject = {}): { [key: string]: Json } {
  if (!isObject(schema) || !isObject(schema.properties)) return {};
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const entries = Object.entries(schema.properties).filter(([name]) => required.includes(name));
  return Object.fromEntries(
    entries.map(([name, property]) => {
      const type = isObject(property) ? property.type : undefined;
      return [name, type === 'object' ? example : type === 'string' ? 'test' : 2];
    }),
  );
}

const calls =
  given.toolCalls ??
  mcp.tools().map(({ name, parameters }) => ({
    name: name.slice(`mcp_${SERVER}_`.length),
    arguments: inputFor(parameters, mcp.tools()[0]?.parameters),
  }));
const outcomes = await Promise.allSettled(calls.map(({ name, arguments: input }) => call(name, input)));
process.stderr.write(`${JSON.stringify({ servers: mcp.servers(), outcomes, log: mcp.lines }, null, 2)}\n`);
