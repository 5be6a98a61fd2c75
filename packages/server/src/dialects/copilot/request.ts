/** The request body of `/api/agent/interact`. Unknown keys are ignored. */
import { JsonValue } from '@parlance/protocol';
import { z } from 'zod';
import { Uuid } from './schemas.ts';

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
