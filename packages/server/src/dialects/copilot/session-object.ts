/** A session as the copilot contract shows it, and the filter of the list. */
import type { SessionFilter, SessionRecord } from '../../core/api/index.ts';
import type { CopilotSessionStatus } from './schemas.ts';

/** Every session can be continued, so none is ever completed or interrupted. */
export function filterOf(status: CopilotSessionStatus | undefined, includeArchived = false): SessionFilter {
  switch (status) {
    case 'active':
      return { status: ['idle', 'running', 'waiting'] };
    case 'failed':
      return { status: ['failed'] };
    case 'archived':
      return { archived: 'only' };
    case 'completed':
    case 'interrupted':
      return { status: [] };
    case undefined:
      return includeArchived ? { archived: 'included' } : {};
  }
}

const statusOf = ({ archived, status }: SessionRecord): CopilotSessionStatus => {
  if (archived) return 'archived';
  return status === 'failed' ? 'failed' : 'active';
};

export const sessionObject = (record: SessionRecord) => ({
  sessionId: record.ref.id,
  title: record.title,
  isRenamed: record.renamed,
  status: statusOf(record),
  url: record.labels.url ?? '',
  domain: record.labels.domain,
  createdAt: new Date(record.createdAt).toISOString(),
  updatedAt: new Date(record.updatedAt).toISOString(),
  messageCount: record.messageCount,
  metadata: { dialect: record.dialect, initialQuery: record.firstInput },
});

/** Some clients read the fields of `data`, others those of `data.session`. */
export const shown = (record: SessionRecord) => {
  const session = sessionObject(record);
  return { ...session, session };
};
