/** Faults as HTTP statuses. */
import type { FaultCode } from '@parlance/protocol';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { HTTP_STATUS } from '../shared/http-status.ts';

export const FAULTS: Record<FaultCode, ContentfulStatusCode> = HTTP_STATUS;
