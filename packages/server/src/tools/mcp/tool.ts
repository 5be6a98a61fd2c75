/**
 * One tool of an MCP server. Runs without approval only if the server declares it read-only, and has not changed
 * its definition since it was last used or approved.
 */
import {
  type Answers,
  asFault,
  Fault,
  isObject,
  type Json,
  type JsonObject,
  JsonValue,
  LOCAL,
  textPart,
} from '@parlance/protocol';
import { z } from 'zod';
import {
  defineTool,
  OutcomeUnknown,
  type Tool,
  type ToolContext,
  type ToolResult,
} from '../../core/ports/tool.ts';
import { cutText } from '../cut.ts';
import { appOf, isFor, metaFor } from './apps.ts';
import { type Definition, type McpConnection, rootsOf } from './connection.ts';
import { LiveCall, type McpAnswer } from './live-call.ts';
import { hash, type PinState, type Pins } from './pins.ts';
import { isAllowed, questionOf, resultOf, type ServerRequest } from './requests.ts';
import { dataOf, partsOf } from './result.ts';
import type { McpServer } from './servers.ts';
import { EVERYBODY, type SignIn } from './sign-in.ts';

/** The server validates its own input and reports better errors. */
const Input = z.record(z.string(), JsonValue);

const DESCRIPTION_CHARACTERS = 4_000;
/** Rounds of questions of one call. */
const MAX_ROUNDS = 10;
/** Calls of the model that a server may ask for during one call. */
const MAX_SAMPLES = 5;
const SAMPLE_TOKENS = 4_096;
/** Of what a call is continued with, in characters: it is stored. */
const MAX_RESUME = 50_000;

export type OfferedTool = {
  /** name for the model */
  readonly name: string;
  readonly server: string;
  readonly settings: McpServer;
  readonly definition: Definition;
  readonly signIn: SignIn | null;
  readonly pins: Pins;
  /** for a user; null if they have never signed in */
  readonly connectionOf: (user: string) => McpConnection | null;
  /** calls that wait for an answer of the user */
  readonly waiting: Map<string, LiveCall>;
};

/** How a call goes on after a question. */
const Resume = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sign-in') }),
  /** a call that is open at the server */
  z.object({
    kind: z.literal('live'),
    id: z.string(),
    number: z.number(),
    request: z.custom<ServerRequest>(isObject),
    samples: z.number(),
  }),
  /** a call that is sent again with the answers */
  z.object({
    kind: z.literal('rounds'),
    requests: z.record(z.string(), z.custom<ServerRequest>(isObject)),
    responses: z.record(z.string(), z.custom<JsonObject>(isObject)),
    state: z.string().optional(),
    asked: z.string(),
    /** the call was refused until this is done, and is then sent as before */
    refused: z.boolean(),
    round: z.number(),
    samples: z.number(),
  }),
]);
type Resume = z.infer<typeof Resume>;
type Rounds = Extract<Resume, { kind: 'rounds' }>;

export function mcpTool(offered: OfferedTool): Tool {
  const { name, server, settings, definition, pins } = offered;
  const readOnly = definition.annotations?.readOnlyHint === true;
  const grantOf = (id: string) => `mcp:${server}@${id}:${definition.name}`;
  const title = definition.title ?? definition.annotations?.title ?? definition.name;
  return defineTool({
    name,
    description: cutText(definition.description ?? title, DESCRIPTION_CHARACTERS),
    input: Input,
    parameters: definition.inputSchema as JsonObject,
    repeatable: readOnly || definition.annotations?.idempotentHint === true,
    definition: hash(definition),
    asks: !readOnly,
    onlyDirect: !isFor(definition, 'model'),
    exclusive: 'if-asked',
    sends: () => true,
    available: (owner) => offered.connectionOf(owner)?.definitionOf(definition.name) !== undefined,
    async approval(input) {
      const { changed, id } = await pins.look(server, definition);
      if (readOnly && changed.length === 0) return null;
      const change =
        changed.length === 0
          ? ''
          : ` Its definition (${changed.join(', ')}) has changed since it was last used or approved.`;
      // Whole, because some dialects show only the description.
      const given = Object.keys(input).length === 0 ? '' : ` The call: ${name} ${JSON.stringify(input)}`;
      return {
        kind: 'other',
        command: [name, JSON.stringify(input)],
        description: `Uses the tool ${definition.name} of the MCP server ${server}.${change}${given}`,
        grant: grantOf(id),
      };
    },
    async run(input, context) {
      const connection = offered.connectionOf(context.owner);
      if (!connection) throw new Fault('tool_failed', `Nobody has signed in to the MCP server ${server}.`);
      // What another user is offered under this name may differ.
      const pinned = await pins.look(server, connection.definitionOf(definition.name) ?? definition);
      if (!context.answer && !covers(context, pinned, grantOf(pinned.id)))
        throw new Fault(
          'tool_failed',
          `The MCP server ${server} has changed the definition of ${definition.name} since this call was decided. It was not run. Call it again.`,
        );
      // Only a person or a rule accepts a changed definition; a mode does not.
      if (pinned.changed.length === 0 || context.permission === 'approved') await pinned.pin();
      const result = await continued({ offered, connection, input, context });
      return settings.trusted ? result : { ...result, untrusted: true };
    },
  });
}

/** Whether the permission was given for the current definition. */
function covers(
  { permission, eventsSinceIdle, call }: ToolContext,
  pinned: PinState,
  grant: string,
): boolean {
  if (permission === 'safe') return pinned.changed.length === 0;
  const asked = eventsSinceIdle.findLast(
    (event) => event.type === 'approval.requested' && event.call === call,
  );
  if (asked?.type !== 'approval.requested') return true;
  // Without a grant, a rule of the operator asked, about a definition that had not changed.
  return asked.ask.grant === undefined ? pinned.changed.length === 0 : asked.ask.grant === grant;
}

// A call runs until the server needs something of the user, and goes on with the answer.

type Run = {
  readonly offered: OfferedTool;
  readonly connection: McpConnection;
  readonly input: JsonObject;
  readonly context: ToolContext;
};

async function continued(run: Run): Promise<ToolResult> {
  const { offered, context } = run;
  if (!context.answer) return started(run, undefined);
  const { answers } = context.answer;
  const resume = Resume.parse(context.answer.resume);
  switch (resume.kind) {
    case 'sign-in': {
      const { signIn } = offered;
      const owner = signIn?.ownerOf(context.owner) ?? EVERYBODY;
      if (!answers && !(await signIn?.isSignedIn(owner)))
        throw new Fault('tool_failed', 'The user did not sign in.');
      return started(run, undefined, true);
    }
    case 'live': {
      const live = offered.waiting.get(resume.id);
      offered.waiting.delete(resume.id);
      if (!live)
        throw new OutcomeUnknown('The server was restarted while the call waited for an answer of the user.');
      // A question that was withdrawn has no answer to pass on.
      if (live.isAsking(resume.number)) live.answer(await liveResponse(run, resume.request, answers));
      return outcome(run, { live, samples: resume.samples });
    }
    case 'rounds': {
      const { asked, requests } = resume;
      const request = requests[asked];
      if (!request) throw new Fault('tool_failed', 'The question of the call is not known.');
      const response = await responseTo(run, request, answers);
      return nextRound(run, { ...resume, responses: { ...resume.responses, [asked]: response } });
    }
  }
}

async function started(run: Run, rounds: Rounds | undefined, signedIn = false): Promise<ToolResult> {
  const { offered, connection, input, context } = run;
  const { server, settings, definition } = offered;
  const live = new LiveCall({
    ...{ server, root: context.root, session: `${context.owner} ${context.session}` },
    ...{ signal: context.signal, timeoutMs: settings.timeoutMs, report: context.report },
  });
  const sent = rounds && {
    ...(Object.keys(rounds.responses).length > 0 && { responses: rounds.responses }),
    ...(rounds.state !== undefined && { state: rounds.state }),
  };
  live.begin(() => connection.call({ definition, input, rounds: sent, live }));
  return outcome(run, { live, samples: rounds?.samples ?? 0, round: rounds?.round ?? 0, signedIn });
}

type Progressed = {
  readonly live: LiveCall;
  readonly samples: number;
  readonly round?: number;
  /** the user has just signed in for this call */
  readonly signedIn?: boolean;
};

async function outcome(
  run: Run,
  { live, samples, round = 0, signedIn = false }: Progressed,
): Promise<ToolResult> {
  for (;;) {
    const next = await live.next();
    if ('answer' in next) return ended(run, next.answer, { samples, round, signedIn });
    const { request, number, gone } = next.asked;
    const question = asks(run, request, samples);
    if (!question) {
      live.answer(declined(request));
      continue;
    }
    const id = crypto.randomUUID();
    run.offered.waiting.set(id, live);
    const resume: Resume = {
      kind: 'live',
      id,
      number,
      request,
      samples: samples + (isSampling(request) ? 1 : 0),
    };
    return { parts: [], asks: { question, resume: resume as Json, until: gone } };
  }
}

type Position = Required<Pick<Progressed, 'samples' | 'round' | 'signedIn'>>;

async function ended(
  run: Run,
  answer: McpAnswer,
  { samples, round, signedIn }: Position,
): Promise<ToolResult> {
  switch (answer.kind) {
    case 'refused':
      return { parts: [textPart(answer.message)], failed: true };
    case 'done': {
      const resource = appOf(run.offered.definition);
      const meta = metaFor(answer.result._meta);
      // Data is for apps in the first place: an app gets all of it.
      const data = dataOf(answer.result, resource !== null);
      return {
        parts: partsOf(answer.result),
        ...(data ? { data } : {}),
        ...(resource !== null && { app: { resource, ...(meta && { meta }) } }),
        ...(answer.result.isError ? { failed: true } : {}),
      };
    }
    case 'sign-in':
      return signInFor(run, signedIn);
    case 'input': {
      const { requests, state, refused = false } = answer;
      if (round >= MAX_ROUNDS)
        throw new Fault('tool_failed', `The MCP server ${run.offered.server} asks for too much.`);
      const next = {
        kind: 'rounds',
        requests,
        responses: {},
        asked: '',
        refused,
        round: round + 1,
        samples,
      } as const;
      return nextRound(run, { ...next, ...(state !== undefined && { state }) });
    }
  }
}

/** Asks the next question of the round, or sends the call again with all answers. */
async function nextRound(run: Run, rounds: Rounds): Promise<ToolResult> {
  const responses = { ...rounds.responses };
  let { samples } = rounds;
  for (const [name, request] of Object.entries(rounds.requests)) {
    if (responses[name]) continue;
    if (request.method === 'roots/list') {
      responses[name] = { roots: rootsOf(run.context.root) };
      continue;
    }
    const question = asks(run, request, samples);
    if (!question) {
      responses[name] = declined(request);
      continue;
    }
    if (isSampling(request)) samples++;
    const resume = { ...rounds, responses, samples, asked: name } satisfies Resume;
    if (JSON.stringify(resume).length > MAX_RESUME)
      throw new Fault('tool_failed', `The MCP server ${run.offered.server} asks for too much.`);
    return { parts: [], asks: { question, resume: resume as Json } };
  }
  if (rounds.refused && Object.values(responses).some(({ action }) => action !== 'accept'))
    throw new Fault('tool_failed', 'The user did not open the address that the MCP server asked for.');
  return started(run, { ...rounds, responses: rounds.refused ? {} : responses, samples });
}

const isSampling = ({ method }: ServerRequest): boolean => method === 'sampling/createMessage';

const asks = ({ offered }: Run, request: ServerRequest, samples: number) =>
  isSampling(request) && samples >= MAX_SAMPLES ? null : questionOf(offered.server, request);

/** The answer to what cannot be asked. */
const declined = (request: ServerRequest): JsonObject =>
  isSampling(request) ? refusedSample('This client does not ask its model that.') : { action: 'cancel' };

/** Sampling has no way to decline but an error, which ends the call: the answer says so instead. */
const refusedSample = (text: string): JsonObject => ({
  ...{ model: 'none', role: 'assistant', stopReason: 'refused' },
  content: { type: 'text', text },
});

async function responseTo(
  { context }: Run,
  request: ServerRequest,
  answers: Answers | null,
): Promise<JsonObject> {
  if (!isSampling(request)) return resultOf(request, answers);
  if (!isAllowed(answers)) return refusedSample('The user did not allow this.');
  const { systemPrompt, messages, maxTokens } = request.params;
  const { text, model } = await context.complete({
    instructions: typeof systemPrompt === 'string' ? systemPrompt : '',
    messages: (Array.isArray(messages) ? messages : [])
      .flatMap((message) => (isObject(message) ? [message] : []))
      .map(({ role, content }) => ({
        role: role === 'assistant' ? 'assistant' : 'user',
        text: (Array.isArray(content) ? content : [content])
          .map((part) => (isObject(part) ? String(part.text ?? '') : ''))
          .join('\n'),
      })),
    maxTokens: Math.min(SAMPLE_TOKENS, Number(maxTokens) || SAMPLE_TOKENS),
  });
  return { model, role: 'assistant', content: { type: 'text', text }, stopReason: 'endTurn' };
}

/** The server waits: it gets an answer also if the model cannot be asked. */
const liveResponse = (run: Run, request: ServerRequest, answers: Answers | null): Promise<JsonObject> =>
  responseTo(run, request, answers).catch((thrown: unknown) => refusedSample(asFault(thrown).message));

async function signInFor({ offered, context }: Run, signedIn: boolean): Promise<ToolResult> {
  const { server, signIn } = offered;
  const owner = signIn?.ownerOf(context.owner) ?? EVERYBODY;
  if (!signIn || signedIn) throw new Fault('tool_failed', `The MCP server ${server} refuses the sign-in.`);
  // A sign-in for everybody is a matter of those who set up the server.
  if (owner === EVERYBODY && context.owner !== LOCAL.id)
    throw new Fault(
      'tool_failed',
      `The MCP server ${server} needs a sign-in. An admin can sign in under Admin → MCP servers.`,
    );
  const link = await signIn.begin(owner, null);
  const host = new URL(link).host;
  return {
    parts: [],
    asks: {
      resume: { kind: 'sign-in' },
      until: signIn.signedIn(owner),
      question: {
        purpose: 'elicitation',
        title: `Sign in to ${server}`,
        questions: [
          {
            ...{
              id: 'accept',
              header: server,
              options: [{ label: 'Done' }],
              multiple: false,
              freeText: false,
            },
            text: `The tool ${offered.definition.name} needs you to sign in at ${host}. Open this address, and answer when you have:\n\n${link}`,
            link,
          },
        ],
      },
    },
  };
}
