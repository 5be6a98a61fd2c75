/** What a client of the copilot contract sends with each call of `/api/agent/interact`. Unknown keys are tolerated. */
import { z } from 'zod';
import { Uuid } from './schemas.ts';

const text = (limit: number) => z.string().max(limit);

export const InteractRequest = z.looseObject({
  query: z.string().min(1).max(10_000),
  url: z.url().optional(),
  dom: z.string().min(1).max(1_000_000).optional(),
  interactiveTree: z.json().optional(),
  semanticNodes: z.json().optional(),
  skeletonDom: text(1_000_000).optional(),
  taskId: Uuid.nullish(),
  sessionId: Uuid.nullish(),
  domain: text(300).optional(),
  title: text(1_000).optional(),
  pageTitle: text(1_000).optional(),
  lastActionStatus: z.enum(['success', 'failure', 'pending']).nullish(),
  lastActionError: z
    .looseObject({
      message: z.string(),
      code: z.string(),
      action: z.string(),
      elementId: z.json().optional(),
    })
    .nullish(),
  lastActionResult: z.looseObject({ success: z.boolean(), actualState: z.json().optional() }).nullish(),
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
export type InteractRequest = z.infer<typeof InteractRequest>;
