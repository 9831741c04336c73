'use strict';
// Words and numbers, and the judgement of what weir says: values in, words out.

const SOON = 6;            // steps of the recent past that "the last minute" means
const FEW = 3;             // calls: fewer say nothing about all of them
const NEARLY_ALL = 0.95;
const MANY_GIVE_UP = 0.25;  // of the calls: browsers hang up on a few by themselves

const percent = (share) => {
  const value = 100 * share;
  return `${value > 0 && value < 1 ? '<1' : Math.round(value)} %`;
};
const grouped = (number) => Math.round(number).toLocaleString('en-US').replaceAll(',', ' ');
const count = (number, word) => `${grouped(number)} ${word}${number === 1 ? '' : 's'}`;
function milliseconds(value) {
  if (value === null) return '-';
  if (value >= 1000) return `${(value / 1000).toFixed(1)} s`;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}
function span(seconds) {
  if (seconds < 120) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}
const ago = (time) => `${span((Date.now() - Date.parse(time)) / 1000)} ago`;
// In UTC, as the log has it; with the date where the time alone might mislead.
function clock(date) {
  const text = date.toISOString();
  const today = Math.abs(Date.now() - date.getTime()) < 12 * 3_600_000;
  return `${today ? text.slice(11, 19) : text.slice(0, 19).replace('T', ' ')} UTC`;
}
const rate = (value) => (value >= 10 ? grouped(value) : value.toFixed(1));
const spaced = (words) => String(words).replaceAll('_', ' ');
const shortHash = (hash) => (hash && hash.length > 20 ? `${hash.slice(0, 10)}...${hash.slice(-6)}` : hash);

// What the states mean, and what to do about them.
const STATES = {
  fit: {word: 'fit', level: 'good', mark: '\u2713'},
  lagging: {word: 'lagging', level: 'warn', mark: '\u25b2', advice: 'It serves again by itself once it has caught up.'},
  ahead: {word: 'too far ahead', level: 'warn', mark: '\u25b2',
    advice: 'It is not believed, and serves again by itself once the others show such blocks too, or it no longer does. See its provider\'s own status.'},
  apart: {word: 'on a fork', level: 'bad', mark: '\u2715',
    advice: 'The others are preferred until its blocks are theirs again. Compare with an explorer; drain it if it is the one that is wrong.'},
  wrong_chain: {word: 'wrong chain', level: 'bad', mark: '\u2715', advice: 'It gets no call. Its URL leads to another network: correct the configuration.'},
  cooling_down: {word: 'rate limited', level: 'warn', mark: '\u25b2', advice: 'It asked for a pause and is asked again by itself.'},
  quota_spent: {word: 'plan spent', level: 'bad', mark: '\u2715', 
    advice: 'Raise its plan, or wait for its renewal. Raised, it serves again once you resume it: '},
  allowance_spent: {word: 'plan spent', level: 'bad', mark: '\u2715',
    advice: 'It serves again by itself when its allowance is renewed. If its plan grants more, raise units_per_day and reload.'},
  auth_failed: {word: 'key refused', level: 'bad', mark: '\u2715', advice: 'Renew its key in the configuration.'},
  circuit_open: {word: 'failing', level: 'bad', mark: '\u2715', advice: 'It is tried again by itself; see its provider\'s own status.'},
  unknown: {word: 'not reached', level: 'bad', mark: '\u2715', advice: 'It is tried again by itself; see whether its host answers.'},
  drained: {word: 'drained', level: 'warn', mark: '\u25b2', advice: 'Resume lets it back.'},
};
// States in which an upstream's head is the present one.
const SEEN = ['fit', 'cooling_down', 'quota_spent', 'drained'];
// States that are told apart further than by their names.
function kindOf(upstream) {
  if (upstream.state === 'lagging' && upstream.lag_blocks === 0) return 'ahead';
  if (upstream.state === 'fit' && upstream.apart) return 'apart';
  if (upstream.state === 'quota_spent' && upstream.allowance && upstream.allowance.used >= 1) return 'allowance_spent';
  return upstream.state;
}
// One that does not answer: how it stood when it did says nothing of now.
const isSilent = ({state}) => state === 'unknown' || state === 'circuit_open';
const stateOf = (upstream) => STATES[kindOf(upstream)] ?? {word: String(upstream.state), level: 'warn', mark: '\u25b2'};
const RANK = {good: 0, warn: 1, bad: 2};
const worst = (levels) => levels.reduce((a, b) => (RANK[b] > RANK[a] ? b : a), 'good');

// What is wrong with an upstream, in order of weight; nothing for one that is well.
function troubleOf(upstream, chain) {
  const state = stateOf(upstream);
  if (kindOf(upstream) !== 'fit') {
    const pause = upstream.cooldown_seconds > 0 ? `for ${span(Math.ceil(upstream.cooldown_seconds))} more` : '';
    return {
      level: state.level,
      word: state.word,
      text: [upstream.reason === state.word ? '' : spaced(upstream.reason), pause].filter(Boolean).join(', '),
      advice: (state.advice ?? '') +
        (kindOf(upstream) === 'quota_spent' ? `POST /api/upstreams/${chain.name}/${upstream.name}/resume.` : ''),
    };
  }
  const fails = upstream.success_rate === null ? 0 : 1 - upstream.success_rate;
  const used = upstream.allowance ? upstream.allowance.used : 0;
  const notes = [
    fails >= 0.1 && `${percent(fails)} of its recent replies failed`,
    upstream.throttled_share >= 0.1 && `${percent(upstream.throttled_share)} of recent calls were told to slow down`,
    used >= 0.9 && `${percent(used)} of its daily allowance is spent`,
  ].filter(Boolean);
  if (notes.length === 0) return null;
  const word = fails >= 0.1 ? 'unreliable' : upstream.throttled_share >= 0.1 ? 'often limited' : 'nearly spent';
  return {level: 'warn', word, text: notes.join('; '), advice: 'It still serves; others are preferred.'};
}

// What clients met: in the last minute, in the last seconds, and what still waits.
function usersOf(chain) {
  const sum = (list) => list.slice(-SOON).reduce((a, b) => a + b, 0);
  const {calls, failed, limited, gone, latest} = chain.recent;
  return {
    minute: {calls: sum(calls), failed: sum(failed), limited: sum(limited), gone: sum(gone)},
    now: {...latest, served: latest.calls - latest.failed - latest.limited},
    late: chain.in_flight.late,
    oldest: chain.in_flight.oldest_seconds,
    owns: chain.recent.over_own_rate.filter(({latest: calls}) => calls > 0),
  };
}

const waiting = ({late, oldest}) =>
  `${count(late, 'call')} ${late === 1 ? 'waits' : 'wait'} without an answer, the oldest for ${span(oldest)}`;

// What users feel now, from the gravest on; nothing if they do not.
function feltNow(chain, users) {
  const {now, late, oldest} = users;
  const share = (number) => (now.calls === 0 ? 0 : number / now.calls);
  const lateShare = late / Math.max(1, late + now.calls);
  const bad = (headline) => ({level: 'bad', mark: '\u2715', headline});
  const warn = (headline) => ({level: 'warn', mark: '\u25b2', headline});
  if (chain.state === 'down') return bad('down: no upstream can serve');
  if (now.calls >= FEW && share(now.failed) >= NEARLY_ALL) {
    return bad(`down: ${now.failed === now.calls ? 'all' : 'nearly all'} calls fail now`);
  }
  if (late >= FEW && now.served === 0) return bad(`down: no call is answered; ${waiting(users)}`);
  if (late >= FEW && lateShare >= 0.05) return bad(`users feel it: ${waiting(users)}`);
  if (share(now.failed) >= 0.01) return bad(`users feel it: ${percent(share(now.failed))} of calls fail now`);
  const own = users.owns.reduce((sum, {latest}) => sum + latest, 0);  // told to wait by a rate that we gave them
  const theirs = Math.max(0, now.limited - own);                      // and by the providers' limits
  if (now.calls >= FEW && share(theirs) >= NEARLY_ALL) {
    return bad(`users are refused: the providers' limits make ${theirs === now.calls ? 'all' : 'nearly all'} calls wait now`);
  }
  if (share(theirs) >= 0.01) {
    return warn(`users are slowed: the providers' limits make ${percent(share(theirs))} of calls wait now`);
  }
  if (share(own) >= 0.01) return warn(`${clientsOf(users.owns)} over the rate set for ${users.owns.length === 1 ? 'it' : 'them'}`);
  if (oldest >= 10 && lateShare >= 0.01) return warn(`slow: ${waiting(users)}`);
  if (now.gone >= FEW && now.gone / (now.gone + now.calls) >= MANY_GIVE_UP) {
    return warn(`clients give up: ${percent(now.gone / (now.gone + now.calls))} of calls, before their answer`);
  }
  return null;
}

function met({calls, failed, limited}) {
  if (failed + limited === 0) return calls === 1 ? 'the one call did not fail' : `none of ${count(calls, 'call')} failed`;
  if (failed === calls) return `${calls === 1 ? 'the one call' : `all ${count(calls, 'call')}`} failed`;
  const parts = [failed > 0 && `${grouped(failed)} failed`, limited > 0 && `${grouped(limited)} ${limited === 1 ? 'was' : 'were'} told to wait`];
  return `of ${count(calls, 'call')} ${parts.filter(Boolean).join(' and ')}`;
}

const leftBy = ({gone}) => gone > 0 && `${count(gone, 'call')} given up by ${gone === 1 ? 'its client' : 'their clients'}`;

// Names as a list for people: three of them at most.
function listOf(names) {
  const more = names.length - 3;
  return names.slice(0, 3).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

const clientsOf = (owns) =>
  `client${owns.length === 1 ? '' : 's'} ${listOf(owns.map(({client}) => client))} ${owns.length === 1 ? 'is' : 'are'}`;

// The same in a sentence or two, for now and for the last minute apart. `felt`: what the headline says of users.
function feelingOf(users, level, felt) {
  const {minute, now, late} = users;
  if (minute.calls + minute.gone === 0 && late === 0) return 'No call came in the last minute.';
  const lost = now.failed + now.limited;
  if (minute.failed + minute.limited + minute.gone + lost + late === 0) {
    const lead = felt ? 'No call has failed of it yet' : level === 'good' ? 'Users are served' : 'Users do not feel it';
    return `${lead}: ${met(minute)} in the last minute.`;
  }
  const seconds = `in the last ${span(now.seconds)}`;
  const parts = [
    now.calls > 0 ? `${met(now)} ${seconds}` : `no call ${late > 0 ? 'was answered' : 'ended'} ${seconds}`,
    leftBy(now),
    late > 0 && waiting(users),
  ];
  const lead = felt && lost + late > 0 ? 'Users feel it now' : 'Now';
  const clients = users.owns.map(({client, latest}) => `${client} (${count(latest, 'call')})`);
  if (clients.length > 0) parts.push(`told to wait by a rate of their own: ${listOf(clients)}`);
  const minutes = [minute.calls > 0 && met(minute), leftBy(minute)].filter(Boolean);
  const before = minutes.length > 0 ? ` In the last minute ${minutes.join('; ')}.` : '';
  return `${lead}: ${parts.filter(Boolean).join('; ')}.${before}`;
}

// Of requests that were turned away before anybody knew for which chain they were; nothing if none was.
function turnedAway(unrouted) {
  const failed = unrouted ? unrouted.failed.slice(-SOON).reduce((a, b) => a + b, 0) : 0;
  return failed === 0 ? null
    : `${count(failed, 'request')} of the last minute ${failed === 1 ? 'was' : 'were'} turned away: weir is overloaded`;
}

const namesOf = (troubles) => listOf(troubles.map(({upstream}) => upstream.name));

function judge(chain, draining) {
  const users = usersOf(chain);
  const troubles = chain.upstreams
    .map((upstream) => ({upstream, ...troubleOf(upstream, chain)}))
    .filter((trouble) => trouble.level)
    .sort((a, b) => RANK[b.level] - RANK[a.level]);
  const serving = chain.upstreams.filter((upstream) => upstream.state === 'fit').length;
  const {minute} = users;
  const warn = (headline) => ({level: 'warn', mark: '\u25b2', headline});
  const again = minute.calls > 0 && minute.failed / minute.calls >= 0.01;
  const felt = feltNow(chain, users);
  let verdict = felt;
  if (verdict === null && again) {
    const whom = troubles.length > 0 ? `; trouble with ${namesOf(troubles)}` : '';
    verdict = warn(`serving again; ${count(minute.failed, 'call')} failed in the last minute${whom}`);
  }
  if (verdict === null && chain.state === 'degraded') verdict = warn('degraded, but serving');
  if (verdict === null && troubles.length > 0) verdict = warn(`serving; trouble with ${namesOf(troubles)}`);
  if (draining) {
    verdict = verdict === null ? warn('draining: weir ends soon, and serves till then')
      : {...verdict, headline: `${verdict.headline}; draining: weir ends soon`};
  }
  verdict ??= {level: 'good', mark: '\u2713', headline: 'all well'};
  return {...verdict, feel: feelingOf(users, verdict.level, felt !== null), troubles, serving};
}
