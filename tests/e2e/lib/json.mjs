// Parts of a JSON text as the bytes they are. The text has to be valid; JSON.parse judges that.

const skipBlanks = (text, at) => {
  while (' \t\r\n'.includes(text[at])) ++at;
  return at;
};

// The place behind the value that starts at `at`.
function valueEnd(text, at) {
  if (text[at] === '"') {
    for (++at; text[at] !== '"'; ++at) if (text[at] === '\\') ++at;
    return at + 1;
  }
  if (text[at] === '{' || text[at] === '[') {
    let depth = 0;
    for (;;) {
      const c = text[at];
      if (c === '"') {
        at = valueEnd(text, at);
        continue;
      }
      if (c === '{' || c === '[') ++depth;
      if (c === '}' || c === ']') --depth;
      ++at;
      if (depth === 0) return at;
    }
  }
  while (at < text.length && !',]} \t\r\n'.includes(text[at])) ++at;
  return at;
}

// Raw texts of an object's members: {name: text}.
export function members(text) {
  const found = {};
  let at = skipBlanks(text, skipBlanks(text, 0) + 1);
  while (text[at] !== '}') {
    const nameEnd = valueEnd(text, at);
    const name = JSON.parse(text.slice(at, nameEnd));
    const start = skipBlanks(text, skipBlanks(text, nameEnd) + 1);
    const end = valueEnd(text, start);
    found[name] = text.slice(start, end);
    at = skipBlanks(text, end);
    if (text[at] === ',') at = skipBlanks(text, at + 1);
  }
  return found;
}

// Raw texts of an array's items.
export function items(text) {
  const found = [];
  let at = skipBlanks(text, skipBlanks(text, 0) + 1);
  while (text[at] !== ']') {
    const end = valueEnd(text, at);
    found.push(text.slice(at, end));
    at = skipBlanks(text, end);
    if (text[at] === ',') at = skipBlanks(text, at + 1);
  }
  return found;
}
