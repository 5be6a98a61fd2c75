/**
 * Schemas of responses about tasks and messages, and of errors. The fields of an interaction are in `data` and
 * at the top level.
 */
import { z } from 'zod';
import { named } from '../kit/description.ts';
import { Uuid } from './schemas.ts';

const Data = z.record(z.string(), z.json());
/** The envelope of a successful response. */
export const wrapped = <Schema extends z.ZodType>(data: Schema) =>
  z.object({ success: z.literal(true), data });

// Tasks

const TaskStatus = named(
  'CopilotTaskStatus',
  z.enum([
    'planning',
    'executing',
    'verifying',
    'correcting',
    'completed',
    'failed',
    'needs_user_input',
    'needs_full_dom',
  ]),
);

const Plan = named(
  'CopilotPlan',
  z.object({
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
  }),
);

const Verification = named(
  'CopilotVerification',
  z.object({ success: z.boolean(), confidence: z.number().min(0).max(1), reason: z.string() }),
);

const Correction = named(
  'CopilotCorrection',
  z.object({
    strategy: z.enum([
      'ALTERNATIVE_SELECTOR',
      'ALTERNATIVE_TOOL',
      'GATHER_INFORMATION',
      'UPDATE_PLAN',
      'RETRY_WITH_DELAY',
    ]),
    reason: z.string(),
    retryAction: z.string(),
  }),
);

const planned = {
  plan: Plan.optional(),
  currentStep: z.number().int().optional(),
  totalSteps: z.number().int().optional(),
};

const Interaction = named(
  'CopilotInteraction',
  z.object({
    thought: z.string(),
    action: z
      .string()
      .describe('the next action of the browser, such as `click(42)`, `finish()` or `fail()`'),
    taskId: z.string(),
    sessionId: z.string(),
    status: TaskStatus,
    ...planned,
    usage: z.object({ promptTokens: z.number(), completionTokens: z.number() }),
    metrics: z.object({
      requestDuration: z.number().describe('milliseconds'),
      stepIndex: z.number().int(),
      actionCount: z.number().int(),
    }),
    verification: Verification.optional(),
    correction: Correction.optional(),
    expectedOutcome: Data.optional(),
    needsScreenshot: z.literal(true).optional(),
    toolAction: z.object({ toolName: z.string(), toolType: z.literal('DOM'), parameters: Data }).optional(),
    webSearchPerformed: z.literal(true).optional(),
    webSearchSummary: z.string().optional(),
  }),
);

const Question = named(
  'CopilotQuestion',
  z.object({
    status: z.literal('needs_user_input'),
    thought: z.string(),
    userQuestion: z.string(),
    missingInformation: z.array(z.string()),
    context: z.object({ searchPerformed: z.boolean(), reasoning: z.string() }),
    taskId: z.string(),
    sessionId: z.string(),
    ...planned,
  }),
);

const WholePage = named(
  'CopilotWholePage',
  z.object({
    status: z.literal('needs_full_dom'),
    requestedDomMode: z.literal('full'),
    needsFullDomReason: z.string(),
    thought: z.string(),
    taskId: z.string(),
    sessionId: z.string(),
    ...planned,
  }),
);

/** More specific schemas come first. */
export const InteractResponse = named(
  'InteractResponse',
  z.union([
    Question.extend({ success: z.literal(true), data: Question }),
    WholePage.extend({ success: z.literal(true), data: WholePage }),
    Interaction.extend({ success: z.literal(true), data: Interaction }),
  ]),
);

export const ActiveTask = named(
  'CopilotActiveTask',
  wrapped(
    z
      .object({
        taskId: z.string(),
        sessionId: z.string(),
        query: z.string(),
        status: TaskStatus,
        currentStepIndex: z.number().int(),
        createdAt: z.iso.datetime(),
        updatedAt: z.iso.datetime(),
      })
      .nullable(),
  ),
);

// Sessions

const Message = named(
  'CopilotMessage',
  z.object({
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
        plan: Plan.optional().describe('of a system message with a `messageType`'),
      })
      .optional(),
  }),
);

export const MessageHistory = named(
  'CopilotMessages',
  z.object({
    sessionId: Uuid,
    messages: z.array(Message),
    total: z.number().int(),
    sessionExists: z.boolean(),
  }),
);

export const CopilotError = named(
  'CopilotError',
  z.object({
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
);
