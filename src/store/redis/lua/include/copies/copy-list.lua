--[[
Processes that answer "absent" from a copy while they hold a lease are the readers of a filter. The list of them is one sorted set, so that it is lost as a whole:
`e:<reader>` is the end of a lease (milliseconds of the server, 1e12 at least), `a:<reader>` the number of the last entry of the feed that the reader has
acknowledged (less than 1e12), and `#<list>` names the list. The metadata have:

  leases            the list
  leases.run        run id of the server that began it
  leases.until      the latest end of any lease
  leases.lostUntil  until then adds wait a whole lease: readers of an earlier list may hold leases
  leases.last       number of the last entry of the feed
  leases.ms         longest lease

Gives  COPY_FIELDS             the names of these fields
       copiesAt(meta, readers, feed, newList, known)  what is stored of them: `newList` is the name of the list if one has to begin, `known` the values of these
                               fields for a caller that has read them
       beginList(copies, run)  begins a list: readers of the one before have to join again
       settleServer(copies, run)  begins one if the last was not begun by the server with this run id; '' stands for a server that may not be asked
       settleList(copies)      begins one if that of the metadata is gone while leases may be out; `copies.least` is what leastOf() would give, where a reader is first
]]
--- @include "now"
local COPY_FIELDS = { 'leases', 'leases.run', 'leases.until', 'leases.lostUntil', 'leases.last', 'leases.ms' }

local function copiesAt(meta, readers, feed, newList, known)
  known = known or redis.call('HMGET', meta, unpack(COPY_FIELDS))
  local copies = { meta = meta, readers = readers, feed = feed, newList = newList, now = now() }
  copies.list, copies.run = known[1] or '', known[2] or ''
  local ms = tonumber(known[6] or '')
  copies.knowsLength = ms ~= nil and ms >= 1 and ms <= 60000
  copies.ms = copies.knowsLength and ms or 60000
  -- What was edited to nonsense counts as a lease that was granted at this moment.
  copies.ends = tonumber(known[3] or 0) or copies.now + copies.ms
  copies.lostUntil = tonumber(known[4] or 0) or copies.now + copies.ms
  copies.last = tonumber(known[5] or 0) or 0
  return copies
end

-- The metadata first: what they do not name is no list, even if the rest fails.
local function beginList(copies, run)
  copies.list, copies.run = copies.newList, run
  redis.call('HSET', copies.meta, 'leases', copies.list, 'leases.run', run, 'leases.lostUntil', string.format('%d', copies.lostUntil))
  redis.pcall('DEL', copies.readers)
  redis.pcall('DEL', copies.feed)
  redis.pcall('ZADD', copies.readers, '+inf', '#' .. copies.list)
  redis.pcall('PEXPIRE', copies.readers, 60000 + copies.ms)
  copies.least = nil
end

local function settleServer(copies, run)
--safety:same-server
  if run ~= copies.run or run == '' then
    copies.lostUntil = copies.now + copies.ms
    if run ~= '' then beginList(copies, run) end
  end
--end
end

local function settleList(copies)
--safety:until-in-meta
  if copies.ends <= copies.now then return end
  -- The name comes after all readers: they are removed with it.
  local first, number = unpack(redis.pcall('ZRANGE', copies.readers, 0, 0, 'WITHSCORES'))
  if first and string.byte(first) ~= 35 then
    -- Above 1e12 it is the end of a lease: then there is nobody to wait for either.
    copies.least = tonumber(number)
  elseif first ~= '#' .. copies.list then
    copies.lostUntil = math.max(copies.lostUntil, copies.ends)
    beginList(copies, copies.run)
  end
--end
end
