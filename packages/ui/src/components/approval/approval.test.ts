import { expect, test } from 'bun:test';
import type { ApprovalState } from '@parlance/sdk';
import { answerText, commandLine, grantText, reasonText } from './approval.ts';

test('quotes the arguments of a command like a shell', () => {
  expect(commandLine(['git', 'push', '--force', 'origin'])).toBe('git push --force origin');
  expect(commandLine(['rm', 'a b', '', "it's", '$HOME'])).toBe(`rm 'a b' '' 'it'\\''s' '$HOME'`);
  expect(commandLine(['bash', '-lc', 'ls\nrm x'])).toBe("bash -lc 'ls\nrm x'");
});

test('a reason does not repeat the command', () => {
  const command = ['rm', 'a b'];
  expect(reasonText({ command, description: "Runs rm 'a b'." })).toBeNull();
  expect(reasonText({ command, description: "Runs rm 'a b' in src without a sandbox." })).toBe(
    'Runs it in src without a sandbox.',
  );
  expect(reasonText({ command, description: 'Deletes a file.' })).toBe('Deletes a file.');
});

test('a reason repeats neither a command of several lines nor the beginning of a long one', () => {
  const lines = ['sh', '-c', 'cd src\n\tls'];
  expect(reasonText({ command: lines, description: "Runs sh -c 'cd src\\n\\tls'." })).toBeNull();
  const long = ['echo', 'a\n'.repeat(200)];
  const line = commandLine(long);
  const cut = line.slice(0, 300).replaceAll('\n', '\\n');
  const description = `Runs ${cut}\\n[… ${line.length - 300} characters left out …]`;
  expect(reasonText({ command: long, description: `${description}.` })).toBeNull();
  expect(reasonText({ command: long, description: `${description} in src.` })).toBe('Runs it in src.');
});

test('describes what a standing grant allows', () => {
  expect(grantText('shell:git push')).toEqual({ what: 'commands like', exactly: 'git push', runs: 'run' });
  expect(grantText('mcp:files@2-0123456789ab:write')).toEqual({
    what: 'the files tool',
    exactly: 'write',
    runs: 'runs',
  });
  expect(grantText('apply_patch')).toEqual({ what: '', exactly: 'apply_patch', runs: 'runs' });
});

test('describes an answer: decision, principal and dialect', () => {
  const answered: ApprovalState = {
    status: 'answered',
    answer: 'deny',
    by: 'dev',
    dialect: 'agentloop',
    at: 1,
  };
  expect(answerText({ status: 'pending' }, false)).toBeNull();
  expect(answerText({ status: 'lapsed' }, false)).toBe('Closed without an answer.');
  expect(answerText(answered, false)).toBe('Denied by dev via agentloop.');
  expect(answerText({ ...answered, reason: 'not today' }, true)).toBe('Denied by you: “not today”');
  expect(answerText({ ...answered, answer: 'once', dialect: 'broadcast', said: 'yes' }, false)).toBe(
    'Allowed once by dev via broadcast: “yes”',
  );
});
