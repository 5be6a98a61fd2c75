import { expect, test } from 'bun:test';
import type { ApprovalState } from '@parlance/sdk';
import { answerText, commandLine, grantText } from './approval-text.ts';

test('a command is written so that its words cannot be mistaken', () => {
  expect(commandLine(['git', 'push', '--force', 'origin'])).toBe('git push --force origin');
  expect(commandLine(['rm', 'a b', '', "it's", '$HOME'])).toBe(`rm 'a b' '' 'it'\\''s' '$HOME'`);
  expect(commandLine(['bash', '-lc', 'ls\nrm x'])).toBe("bash -lc 'ls\nrm x'");
});

test('what always would allow is said in words', () => {
  expect(grantText('shell:git push')).toEqual({ what: 'commands of the kind', exactly: 'git push' });
  expect(grantText('mcp:files:write')).toEqual({
    what: 'every call to files of the tool',
    exactly: 'write',
  });
  expect(grantText('apply_patch')).toEqual({ what: 'every use of', exactly: 'apply_patch' });
});

test('an answer says what it was, by whom and in which dialect', () => {
  const answered: ApprovalState = {
    status: 'answered',
    answer: 'deny',
    by: 'dev',
    dialect: 'agentloop',
    at: 1,
  };
  expect(answerText({ status: 'pending' }, false)).toBeNull();
  expect(answerText({ status: 'lapsed' }, false)).toBe('Settled without an answer from here.');
  expect(answerText(answered, false)).toBe('Denied by dev over agentloop.');
  expect(answerText({ ...answered, reason: 'not today' }, true)).toBe('Denied by you: “not today”');
  expect(answerText({ ...answered, answer: 'once', dialect: 'broadcast', said: 'yes' }, false)).toBe(
    'Allowed once by dev over broadcast: “yes”',
  );
});
