--[[
Gives  writeEntry(copies, tag, staged, places, stagedPlaces)  writes the next entry of the feed, and publishes it on the channel that has the name of the feed. With
                                  places it is of ids that were added: `staged` is the tag of the announced staging, if there is one, and `stagedPlaces` where the ids
                                  are in that. Without, it is of a generation that went live: `staged` is its tag if it was announced
       waitFor(copies, number, isLive)  what an add or a swap waits for: 0 nothing, 1 readers up to this number, 2 time; and for how long at most, in milliseconds
]]
--- @include "copy-list"
--- @include "copy-least"
--- @include "copy-expired"
local function writeEntry(copies, tag, staged, places, stagedPlaces)
  local last = redis.pcall('HINCRBY', copies.meta, 'leases.last', 1)
  local written
  if type(last) == 'number' then
    copies.last = last
    -- Whose lease ended long ago, and who comes back, finds a gap and loads again.
    if copies.ends + 10000 <= copies.now then return end
    local id = string.format('%d-0', last)
    -- The server walks through its node of the stream, of 100 entries or 4 KiB, for each reader that waits:
    -- with the padding a node has few entries.
    local fields = { 'pad', string.rep('.', 64), 'list', copies.list, 'tag', tag, 'staged', staged or '' }
    if places then fields[9], fields[10], fields[11], fields[12] = 'places', places, 'stagedPlaces', stagedPlaces or '' end
    written = redis.pcall('XADD', copies.feed, 'NOMKSTREAM', 'MAXLEN', '~', 2048, id, unpack(fields))
    if not written then
      written = redis.pcall('XADD', copies.feed, id, unpack(fields))
      -- Each renewal of a lease makes it longer.
      redis.pcall('PEXPIRE', copies.feed, 60000 + copies.ms)
    end
  else
    redis.call('HSET', copies.meta, 'leases.last', 0)
    copies.last = 0
  end
  if type(written) == 'string' then
    -- Readers do without a message that is refused or lost.
    local head = string.format('%s %d %s %s %s ', copies.list, last, tag, staged or '-', places and #places or '-')
    redis.pcall('PUBLISH', copies.feed, head .. (places or '') .. (stagedPlaces or ''))
    return
  end
  -- Readers would miss the entry: none of them may renew a lease.
  copies.lostUntil = copies.now + copies.ms
  beginList(copies, copies.run)
end

local function waitFor(copies, number, isLive)
  local ends = copies.lostUntil
--safety:wait-lost
  if not isLive then ends = math.max(ends, copies.ends) end
--end
  -- Nobody is waited for by name then, so the leases that were granted meanwhile have to be over too.
  if ends > copies.now then ends = math.max(ends, copies.ends) end
  -- A lease that is granted after this moment is granted to a reader that loads what is written now.
  if ends > copies.now then return 2, math.min(math.ceil(ends - copies.now), copies.ms) end
  if copies.ends <= copies.now then return 0, 0 end
--safety:wait-readers
  local least = copies.least or leastOf(copies)
  -- A reader that has acknowledged all but this entry was there a moment ago: the next renewal, or question
  -- of an adder, takes off those who were not.
  if least and least < number - 1 and dropExpired(copies) then least = leastOf(copies) end
  if least and least < number then return 1, copies.ms end
--end
  return 0, 0
end
