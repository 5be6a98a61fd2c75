import { z } from 'zod';
import { type Description, named } from '../kit/description.ts';
import { InteractRequest } from './request.ts';
import { ActiveTask, CopilotError, InteractResponse, MessageHistory, wrapped } from './response-schemas.ts';
import {
  ArchiveBody,
  CopilotSessionStatus,
  InitBody,
  LoginBody,
  Preferences,
  RenameBody,
  Uuid,
} from './schemas.ts';

// Responses about sessions and accounts.

const CopilotSession = named(
  'CopilotSession',
  z.object({
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
  }),
);
const Shown = CopilotSession.extend({ session: CopilotSession });

const SessionShown = named('CopilotSessionShown', wrapped(Shown));

const Renamed = CopilotSession.extend({ updatedAt: z.number().int().describe('milliseconds') });
const SessionRenamed = named(
  'CopilotSessionRenamed',
  wrapped(Renamed.extend({ session: Renamed })).extend({ session: Renamed }),
);
const SessionFound = named('CopilotSessionFound', wrapped(z.union([Shown, z.object({ session: z.null() })])));
const SessionPage = named(
  'CopilotSessionPage',
  wrapped(
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
);
const SessionArchived = named(
  'CopilotSessionArchived',
  wrapped(z.object({ sessionId: Uuid, status: z.literal('archived'), message: z.string() })),
);
const SessionBegun = named(
  'CopilotSessionBegun',
  wrapped(z.object({ sessionId: Uuid, created: z.boolean() })),
);

// Accounts

const Account = named(
  'CopilotAccount',
  z.object({
    user: z.object({ id: z.string(), email: z.string(), name: z.string() }),
    tenantId: z.string(),
    tenantName: z.string(),
  }),
);
const LoggedIn = named(
  'CopilotLogin',
  Account.extend({ accessToken: z.string(), expiresAt: z.iso.datetime() }),
);
const KeptPreferences = named(
  'CopilotKeptPreferences',
  z.object({ preferences: Preferences, syncedAt: z.iso.datetime().optional() }),
);
const SavedPreferences = named(
  'CopilotSavedPreferences',
  z.object({ success: z.literal(true), preferences: Preferences, syncedAt: z.iso.datetime() }),
);
const Knowledge = named(
  'CopilotKnowledge',
  z.object({
    allowed: z.literal(true),
    domain: z.string(),
    hasOrgKnowledge: z.boolean(),
    context: z.array(z.json()),
    citations: z.array(z.json()),
  }),
);

export const schemas = {
  Account,
  ActiveTask,
  CopilotError,
  CopilotSession,
  InteractResponse,
  KeptPreferences,
  Knowledge,
  LoggedIn,
  MessageHistory,
  SavedPreferences,
  SessionArchived,
  SessionBegun,
  SessionFound,
  SessionPage,
  SessionRenamed,
  SessionShown,
};

// Requests

named('InteractRequest', InteractRequest);
named('CopilotArchiveRequest', ArchiveBody);
named('CopilotInitRequest', InitBody);
named('CopilotRenameRequest', RenameBody);
named('CopilotLoginRequest', LoginBody);
named('CopilotPreferences', Preferences);

const error = (text: string) => ({ description: text, schema: CopilotError });

export const description: Description = {
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
