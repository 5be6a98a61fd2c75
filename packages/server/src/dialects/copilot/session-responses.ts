/** Responses about sessions and accounts. */
import { z } from 'zod';
import { named } from '../shared/description.ts';
import { wrapped } from './response-schemas.ts';
import { CopilotSessionStatus, Preferences, Uuid } from './schemas.ts';

export const CopilotSession = named(
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

export const SessionShown = named('CopilotSessionShown', wrapped(Shown));

const Renamed = CopilotSession.extend({ updatedAt: z.number().int().describe('milliseconds') });
export const SessionRenamed = named(
  'CopilotSessionRenamed',
  wrapped(Renamed.extend({ session: Renamed })).extend({ session: Renamed }),
);
export const SessionFound = named(
  'CopilotSessionFound',
  wrapped(z.union([Shown, z.object({ session: z.null() })])),
);
export const SessionPage = named(
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
export const SessionArchived = named(
  'CopilotSessionArchived',
  wrapped(z.object({ sessionId: Uuid, status: z.literal('archived'), message: z.string() })),
);
export const SessionBegun = named(
  'CopilotSessionBegun',
  wrapped(z.object({ sessionId: Uuid, created: z.boolean() })),
);

// Accounts

export const Account = named(
  'CopilotAccount',
  z.object({
    user: z.object({ id: z.string(), email: z.string(), name: z.string() }),
    tenantId: z.string(),
    tenantName: z.string(),
  }),
);
export const LoggedIn = named(
  'CopilotLogin',
  Account.extend({ accessToken: z.string(), expiresAt: z.iso.datetime() }),
);
export const KeptPreferences = named(
  'CopilotKeptPreferences',
  z.object({ preferences: Preferences, syncedAt: z.iso.datetime().optional() }),
);
export const SavedPreferences = named(
  'CopilotSavedPreferences',
  z.object({ success: z.literal(true), preferences: Preferences, syncedAt: z.iso.datetime() }),
);
export const Knowledge = named(
  'CopilotKnowledge',
  z.object({
    allowed: z.literal(true),
    domain: z.string(),
    hasOrgKnowledge: z.boolean(),
    context: z.array(z.json()),
    citations: z.array(z.json()),
  }),
);

// Errors
