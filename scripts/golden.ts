/** Runs every scenario and writes transcripts and golden files. Read the diff before you commit it. */
import { rmSync } from 'node:fs';
import { goldenFile, recordedTurns } from '../e2e/whole-turns/turns.ts';
import { PROJECTED } from '../packages/server/src/dialects/index.ts';
import { SCENARIOS } from '../packages/server/src/testing/scenarios.ts';
import {
  goldenFolder,
  goldenPath,
  projected,
  toLines,
  transcriptPath,
  writeText,
} from '../packages/server/src/testing/transcripts.ts';

for (const dialect of PROJECTED) rmSync(goldenFolder(dialect.name), { recursive: true, force: true });
for (const [name, play] of Object.entries(SCENARIOS)) {
  const events = await play();
  writeText(transcriptPath(name), toLines(events));
  for (const dialect of PROJECTED) writeText(goldenPath(dialect.name, name), projected(dialect, events));
}
for (const [name, text] of Object.entries(await recordedTurns())) writeText(goldenFile(name), text);
console.log(`${Object.keys(SCENARIOS).length} transcripts, ${PROJECTED.length} dialects`);
