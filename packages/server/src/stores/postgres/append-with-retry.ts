/**
 * Resolves appends with a lost response: the connection was reset, or the server restarted or did not respond
 * in time, so it is unknown whether they were written. Sends the same statement again: if the first one was
 * or is still being executed, the second one conflicts with our own event, which its body reveals.
 */
import { type Append, type Appended, type Appender, appendAll, driverOf } from './append.ts';
import { bucketOf } from './bucket.ts';
import { type Database, inTime, type Row, type Statements } from './database.ts';
import { isRefusal, isTransient, isUnknown } from './errors.ts';

/** How long to retry beyond the deadline of the statement, since the server may be restarting. */
const RETRY_FOR_MS = 1_000;
const RETRY_DELAY_MS = 50;

/**
 * Writes the group, and determines its outcome if the response is lost. Throws if that is not possible in
 * time.
 */
export async function appendWithRetry(
  database: Database,
  group: readonly Append[],
  appender: Appender,
): Promise<Appended[]> {
  try {
    return await appendAll(database, group, appender);
  } catch (error) {
    if (isRefusal(error) && group.length > 1) return oneByOne(database, group, appender);
    if (!isUnknown(error) && !isTransient(error)) throw error;
    return retryAppend(database, group, { appender, error });
  }
}

/** If the server rejects the values of one append, writes the others. */
async function oneByOne(
  database: Database,
  group: readonly Append[],
  appender: Appender,
): Promise<Appended[]> {
  const answers: Appended[] = [];
  for (const append of group)
    answers.push(
      ...(await appendWithRetry(database, [append], appender).catch((reason): Appended[] => [
        { written: false, reason },
      ])),
    );
  return answers;
}

async function retryAppend(
  database: Database,
  group: readonly Append[],
  { appender, error }: { readonly appender: Appender; readonly error: unknown },
): Promise<Appended[]> {
  const giveUp = performance.now() + RETRY_FOR_MS;
  for (let reason = error; ; ) {
    await Bun.sleep(RETRY_DELAY_MS);
    const left = giveUp - performance.now();
    if (left <= 0) throw reason;
    try {
      const again = appendAll(database, group, appender).then((answers) => withOwn(database, group, answers));
      // A later result is a conflict with our own event, or a late write; the log shows which.
      return await inTime(again, left);
    } catch (failed) {
      if (!isUnknown(failed) && !isTransient(failed)) throw failed;
      reason = failed;
    }
  }
}

/** A conflict with our own event means that the first attempt was written. */
async function withOwn(
  database: Statements,
  group: readonly Append[],
  answers: readonly Appended[],
): Promise<Appended[]> {
  return Promise.all(
    group.map(async (append, index): Promise<Appended> => {
      const answer = answers[index];
      if (answer?.written) return answer;
      const own = await ownEvent(database, append);
      if (own) return { written: true, row: Number(own.row), driver: driverOf(own) };
      return answer ?? { written: false, reason: new Error('the database returned no result for an append') };
    }),
  );
}

/** The session, if its event after `expected` belongs to this append. */
export async function ownEvent(database: Statements, append: Append): Promise<Row | null> {
  const { ref, expected, bodies } = append;
  if (bodies.length === 0) return null;
  const [found] = await database.query(
    `SELECT sessions.row, sessions.epoch, sessions.driver, events.body FROM sessions JOIN events
       ON events.bucket = sessions.bucket AND events.session = sessions.row AND events.seq = $4
     WHERE sessions.bucket = $1 AND owner = $2 AND id = $3`,
    [bucketOf(ref.owner), ref.owner, ref.id, expected + 1],
  );
  return found && found.body === bodies[0] ? found : null;
}
