/** A constant story, so that streams can be compared. */

const BEGINNING = [
  'Once upon a time there was a small lighthouse at the end of a long stone pier. It had no keeper any more. A quiet machine lit the lamp every evening and put it out every morning, and it had done so for so many years that nobody in the village remembered a night without the light.',
  'The machine could not think, and it knew nothing of ships. It knew only three things: when it was dark, how to light the lamp, and how to write one line into the great log book by the stairs. “Lamp lit,” it wrote in the evening. “Lamp out,” it wrote in the morning. The book was thick, and every line in it was true.',
];
const MIDDLE = [
  'One autumn a storm came that was stronger than all the storms before it. The wind tore at the shutters, the waves climbed over the pier, and shortly after midnight the power failed. The lamp went dark. In the middle of a line the pen stopped moving.',
  'Out at sea a fishing boat was on its way home. Its captain looked for the light and did not find it. She slowed down, counted the seconds between two waves, and waited, because she had learned that a light which has always come back will come back again.',
];
const MORE = [
  'In the village a girl saw that the tower was dark. She took her coat and a lantern, ran along the pier between two waves, and climbed the stairs. On the desk lay the log book, open at the last line. “Lamp lit,” it said, and after that there was nothing. So she knew exactly what had happened, and what had not: the lamp had been lit, and nobody had put it out.',
  'She did not light it a second time by hand, for she could not know whether the machine was about to do the same. Instead she looked for the fuse, changed it, and stepped back. The machine woke up, and the first thing that it did was read its own book from the last full page to the end.',
];
const END = [
  'When the power came back, the machine read the last line in the book, saw what was missing, and went on from there. It lit the lamp and finished the sentence that it had begun. Far out, the captain saw the light, smiled, and turned her boat towards the harbour.',
  'In the morning the sea was calm. The machine put out the lamp and wrote its line, as always. And if nobody has closed the book since then, it is still writing, one true line after the other, to this very day.',
];

export function storyAbout(subject: string, long: boolean): string {
  const opening =
    subject === ''
      ? []
      : [`I know only one story, and it is about a lighthouse rather than ${subject}, but here it is.`];
  return [...opening, ...BEGINNING, ...MIDDLE, ...(long ? MORE : []), ...END].join('\n\n');
}
