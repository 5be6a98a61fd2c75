/** Requests and responses of the contract, and the messages on the channel of a session. Unknown keys of requests are ignored. */
import { JsonValue } from '@parlance/protocol';
import { z } from 'zod';
import { type Description, nameSchemas } from '../kit/description.ts';
import { addressOf } from './root-domain.ts';

// Requests

/** An empty parameter counts as absent. */
const filled = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema);

const wholeNumber = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a whole number')
  .transform(Number);
const upTo = (max: number, otherwise: number) =>
  filled(wholeNumber.pipe(z.number().min(1).max(max)).default(otherwise));

/** Any version and variant: clients generate these ids. */
export const Uuid = z.guid('must be a UUID');

export const SessionPath = z.object({ sessionId: Uuid });

const instant = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], 'must be a time in ISO 8601')
  .transform((text) => Date.parse(text));

export const MessagesQuery = z.object({ limit: upTo(200, 50), since: filled(instant.optional()) });

export const CopilotSessionStatus = z.enum(['active', 'completed', 'failed', 'interrupted', 'archived']);
export type CopilotSessionStatus = z.infer<typeof CopilotSessionStatus>;

export const StatusQuery = z.object({ status: filled(CopilotSessionStatus.optional()) });

export const ListQuery = StatusQuery.extend({
  includeArchived: filled(z.enum(['true', 'false', '1', '0']).optional()).transform(
    (text) => text === 'true' || text === '1',
  ),
  limit: upTo(100, 20),
  offset: filled(wholeNumber.default(0)),
});

export const ArchiveBody = z.object({ sessionId: Uuid });

export const InitBody = z.object({
  sessionId: Uuid,
  url: z.url().max(100_000).nullish(),
  title: z.string().trim().min(1).max(500).nullish(),
});

export const RenameBody = z.object({ title: z.string().trim().min(1).max(500) });

export const DomainPath = z.object({
  domain: z
    .string()
    .regex(/^[a-z0-9_]([a-z0-9_-]*)(\.[a-z0-9_-]+)*(:\d{1,5})?$/i, 'must be a domain')
    .max(255),
});

export const ActiveTaskQuery = z.object({ url: filled(z.string().max(100_000).optional()) });

export const LoginBody = z.object({
  email: z.string().min(1).max(1_000),
  password: z.string().min(1).max(1_000),
});

export const Preferences = z.object({ theme: z.enum(['light', 'dark', 'system']) });

export type Preferences = z.infer<typeof Preferences>;

export const KnowledgeQuery = z.object({
  url: z
    .string()
    .max(100_000)
    .refine((text) => addressOf(text) !== null, 'must be a URL or a host name')
    .describe('A URL, or a bare host name such as `shop.example`.'),
  query: z.string().max(10_000).optional(),
});

// Requests to `/api/agent/interact`

const text = (limit: number) => z.string().max(limit);

/** A value with more than `most` characters of JSON is refused. */
const tree = (max: number) =>
  JsonValue.refine(
    (value) => JSON.stringify(value).length <= max,
    `must have at most ${max} characters of JSON`,
  );

/** `maxDom` is the size limit of a page in each of its formats, in characters. */
export const interactRequest = (maxDom: number) =>
  z.looseObject({
    query: z.string().min(1).max(10_000),
    url: z.url().optional(),
    dom: z.string().min(1).max(maxDom).optional(),
    interactiveTree: tree(maxDom).optional(),
    semanticNodes: tree(maxDom).optional(),
    skeletonDom: text(maxDom).optional(),
    taskId: Uuid.nullish(),
    sessionId: Uuid.nullish(),
    domain: text(300).optional(),
    title: text(1_000).optional(),
    pageTitle: text(1_000).optional(),
    domMode: text(100).nullish(),
    /** with the URL and the query, it identifies a first call that is repeated with the whole page */
    tabId: JsonValue.optional(),
    lastActionStatus: z.enum(['success', 'failure', 'pending']).nullish(),
    lastActionError: z
      .looseObject({
        message: z.string(),
        code: z.string(),
        action: z.string(),
        elementId: JsonValue.optional(),
      })
      .nullish(),
    lastActionResult: z.looseObject({ success: z.boolean(), actualState: JsonValue.optional() }).nullish(),
    /** `metrics.actionCount` of the response whose action is reported; a repeated report is ignored */
    actionCount: z.number().int().min(0).nullish(),
    /** `extended`: the client also executes the actions of Parlance's own extension */
    actionGrammar: JsonValue.optional(),
    /** base64 of a PNG or JPEG, after `screenshot()` */
    screenshot: text(4_000_000).nullish(),
    previousUrl: text(10_000).nullish(),
    clientVerification: z
      .looseObject({
        elementFound: z.boolean(),
        selector: z.string().optional(),
        urlChanged: z.boolean().optional(),
      })
      .nullish(),
    clientObservations: z
      .looseObject({
        didNetworkOccur: z.boolean().optional(),
        didDomMutate: z.boolean().optional(),
        didUrlChange: z.boolean().optional(),
      })
      .nullish(),
    chainActionError: z.looseObject({ action: z.string(), message: z.string(), code: z.string() }).nullish(),
  });
export type InteractRequest = z.infer<ReturnType<typeof interactRequest>>;

/** With the default size limit of a page. */
export const InteractRequest = interactRequest(1_000_000);

export const InteractHeaders = z.object({
  'idempotency-key': z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('repeated calls with the same key start only one task'),
});

// Responses

/** The envelope of a successful response. */
const wrapped = <Schema extends z.ZodType>(data: Schema) => z.object({ success: z.literal(true), data });

/** The schemas of answers, by name. The fields of an interaction are in `data` and at the top level. */
export function answers() {
  const Data = z.record(z.string(), z.json());

  // Tasks

  const CopilotTaskStatus = z.enum([
    'planning',
    'executing',
    'verifying',
    'correcting',
    'completed',
    'failed',
    'needs_user_input',
    'needs_full_dom',
  ]);

  const CopilotPlan = z.object({
    steps: z.array(
      z.object({
        id: z.string(),
        index: z.number().int(),
        description: z.string(),
        status: z.enum(['pending', 'active', 'completed', 'failed']),
        reasoning: z.string().optional(),
        toolType: z.enum(['DOM', 'SERVER', 'MIXED']),
        expectedOutcome: Data.optional(),
      }),
    ),
    currentStepIndex: z.number().int(),
    createdAt: z.iso.datetime(),
  });

  const CopilotVerification = z.object({
    success: z.boolean(),
    confidence: z.number().min(0).max(1),
    reason: z.string(),
  });

  const CopilotCorrection = z.object({
    strategy: z.enum([
      'ALTERNATIVE_SELECTOR',
      'ALTERNATIVE_TOOL',
      'GATHER_INFORMATION',
      'UPDATE_PLAN',
      'RETRY_WITH_DELAY',
    ]),
    reason: z.string(),
    retryAction: z.string(),
  });

  const planned = {
    plan: CopilotPlan.optional(),
    currentStep: z.number().int().optional(),
    totalSteps: z.number().int().optional(),
  };

  const CopilotInteraction = z.object({
    thought: z.string(),
    action: z
      .string()
      .describe('the next action of the browser, such as `click(42)`, `finish()` or `fail()`'),
    taskId: z.string(),
    sessionId: z.string(),
    status: CopilotTaskStatus,
    ...planned,
    usage: z.object({ promptTokens: z.number(), completionTokens: z.number() }),
    metrics: z.object({
      requestDuration: z.number().describe('milliseconds'),
      stepIndex: z.number().int(),
      actionCount: z.number().int(),
    }),
    verification: CopilotVerification.optional(),
    correction: CopilotCorrection.optional(),
    expectedOutcome: Data.optional(),
    needsScreenshot: z.literal(true).optional(),
    toolAction: z.object({ toolName: z.string(), toolType: z.literal('DOM'), parameters: Data }).optional(),
    webSearchPerformed: z.literal(true).optional(),
    webSearchSummary: z.string().optional(),
  });

  const CopilotQuestion = z.object({
    status: z.literal('needs_user_input'),
    thought: z.string(),
    userQuestion: z.string(),
    missingInformation: z.array(z.string()),
    context: z.object({ searchPerformed: z.boolean(), reasoning: z.string() }),
    taskId: z.string(),
    sessionId: z.string(),
    ...planned,
  });

  const CopilotWholePage = z.object({
    status: z.literal('needs_full_dom'),
    requestedDomMode: z.literal('full'),
    needsFullDomReason: z.string(),
    thought: z.string(),
    taskId: z.string(),
    sessionId: z.string(),
    ...planned,
  });
  // Sessions

  const CopilotMessage = z.object({
    messageId: z.string(),
    role: z.enum(['user', 'assistant', 'system']),
    content: z.string(),
    sequenceNumber: z.number().int().min(0),
    timestamp: z.iso.datetime(),
    status: z.enum(['pending', 'success', 'failure']).optional(),
    actionString: z.string().optional(),
    actionPayload: Data.optional(),
    error: z.object({ message: z.string(), code: z.string(), action: z.string().optional() }).optional(),
    domSummary: z.string().optional(),
    metadata: z
      .object({
        dialect: z.string().optional(),
        taskId: z.string().optional(),
        interrupted: z.literal(true).optional(),
        imported: z.literal(true).optional().describe('imported from elsewhere when the session was created'),
        messageType: z.enum(['plan_preview', 'plan_update']).optional(),
        plan: CopilotPlan.optional().describe('of a system message with a `messageType`'),
      })
      .optional(),
  });
  const CopilotSession = z.object({
    sessionId: z.string(),
    title: z.string(),
    isRenamed: z.boolean().describe('a user chose the title'),
    status: CopilotSessionStatus,
    url: z.string(),
    domain: z.string().optional(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    messageCount: z.number().int(),
    metadata: z.object({
      dialect: z.string(),
      initialQuery: z.string().describe('the start of the first query; empty if there is none yet'),
    }),
  });
  const Shown = CopilotSession.extend({ session: CopilotSession });
  const Renamed = CopilotSession.extend({ updatedAt: z.number().int().describe('milliseconds') });
  // Accounts

  const CopilotAccount = z.object({
    user: z.object({ id: z.string(), email: z.string(), name: z.string() }),
    tenantId: z.string(),
    tenantName: z.string(),
  });

  return {
    CopilotAccount,
    CopilotActiveTask: wrapped(
      z
        .object({
          taskId: z.string(),
          sessionId: z.string(),
          query: z.string(),
          status: CopilotTaskStatus,
          currentStepIndex: z.number().int(),
          createdAt: z.iso.datetime(),
          updatedAt: z.iso.datetime(),
        })
        .nullable(),
    ),
    CopilotCorrection,
    CopilotError: z.object({
      success: z.literal(false),
      code: z.enum([
        'UNAUTHORIZED',
        'INVALID_CREDENTIALS',
        'FORBIDDEN',
        'VALIDATION_ERROR',
        'INVALID_ACTION_FORMAT',
        'INVALID_REQUEST',
        'RATE_LIMIT',
        'QUOTA_EXCEEDED',
        'NOT_FOUND',
        'SESSION_NOT_FOUND',
        'TASK_NOT_FOUND',
        'TASK_COMPLETED',
        'RESOURCE_CONFLICT',
        'INTERNAL_ERROR',
        'LLM_ERROR',
        'DATABASE_ERROR',
        'EXTERNAL_SERVICE_ERROR',
        'PARSE_ERROR',
        'MAX_STEPS_EXCEEDED',
        'TIMEOUT',
      ]),
      message: z.string(),
      error: z.string().describe('the same as `message`'),
      details: Data.optional().describe('of VALIDATION_ERROR: `errors`, a list of {field, message, code}'),
      retryAfter: z.number().optional().describe('seconds'),
    }),
    CopilotInteraction,
    CopilotKeptPreferences: z.object({ preferences: Preferences, syncedAt: z.iso.datetime().optional() }),
    CopilotKnowledge: z.object({
      allowed: z.literal(true),
      domain: z.string(),
      hasOrgKnowledge: z.boolean(),
      context: z.array(z.json()),
      citations: z.array(z.json()),
    }),
    CopilotLogin: CopilotAccount.extend({ accessToken: z.string(), expiresAt: z.iso.datetime() }),
    CopilotMessage,
    CopilotMessages: z.object({
      sessionId: Uuid,
      messages: z.array(CopilotMessage),
      total: z.number().int(),
      sessionExists: z.boolean(),
    }),
    CopilotPlan,
    CopilotQuestion,
    CopilotSavedPreferences: z.object({
      success: z.literal(true),
      preferences: Preferences,
      syncedAt: z.iso.datetime(),
    }),
    CopilotSession,
    CopilotSessionArchived: wrapped(
      z.object({ sessionId: Uuid, status: z.literal('archived'), message: z.string() }),
    ),
    CopilotSessionBegun: wrapped(z.object({ sessionId: Uuid, created: z.boolean() })),
    CopilotSessionFound: wrapped(z.union([Shown, z.object({ session: z.null() })])),
    CopilotSessionPage: wrapped(
      z.object({
        sessions: z.array(CopilotSession),
        pagination: z.object({
          total: z.number().int(),
          limit: z.number().int(),
          offset: z.number().int(),
          hasMore: z.boolean(),
        }),
      }),
    ),
    CopilotSessionRenamed: wrapped(Renamed.extend({ session: Renamed })).extend({ session: Renamed }),
    CopilotSessionShown: wrapped(Shown),
    CopilotTaskStatus,
    CopilotVerification,
    CopilotWholePage,
    // More specific schemas come first.
    InteractResponse: z.union([
      CopilotQuestion.extend({ success: z.literal(true), data: CopilotQuestion }),
      CopilotWholePage.extend({ success: z.literal(true), data: CopilotWholePage }),
      CopilotInteraction.extend({ success: z.literal(true), data: CopilotInteraction }),
    ]),
  };
}

type Answers = ReturnType<typeof answers>;
export type CopilotError = z.infer<Answers['CopilotError']>;
export type CopilotMessage = z.infer<Answers['CopilotMessage']>;
export type Plan = z.infer<Answers['CopilotPlan']>;
export type TaskStatus = z.infer<Answers['CopilotTaskStatus']>;
export type ActiveTask = NonNullable<z.infer<Answers['CopilotActiveTask']>['data']>;

export function description(): Description {
  const schemas = answers();
  nameSchemas({
    ...schemas,
    InteractRequest,
    CopilotArchiveRequest: ArchiveBody,
    CopilotInitRequest: InitBody,
    CopilotRenameRequest: RenameBody,
    CopilotLoginRequest: LoginBody,
    CopilotPreferences: Preferences,
  });
  const error = (text: string) => ({ description: text, schema: schemas.CopilotError });
  return {
    title: 'Browser copilot',
    summary:
      'Side panels that execute browser actions step by step, over REST. Messages are pushed to the channel private-session-<id>.',
    note: 'Always needs a token, even in open mode.',
    needsToken: true,
    schemas,
    errors: {
      400: error('VALIDATION_ERROR: invalid request'),
      401: error('UNAUTHORIZED: missing or invalid token'),
      403: error('FORBIDDEN: the session belongs to another user'),
      404: error('SESSION_NOT_FOUND'),
      409: error('RESOURCE_CONFLICT: the session is busy'),
      429: error('RATE_LIMIT: too many failed logins; retryAfter and Retry-After are in seconds'),
    },
  };
}
