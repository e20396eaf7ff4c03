--[[
Records ids in the newest layer of the live generation of a filter that grows, unless a layer has them, and the same in the
staged one.

KEYS[1]    meta
KEYS[2..]  the segments that the records name, live and staged
ARGV[1]    token of the live generation as the caller knows it, '' for none; every further layer changes it
ARGV[2]    token of the staged generation as the caller knows it, '' for none
ARGV[3]    live layers, 5 bytes each, the oldest first: tag, little-endian (4), positions of an id (1)
ARGV[4]    staged layers, in the same form
ARGV[5]    live records, for each id and each layer: index into KEYS from 1, big-endian (2), block within the segment,
           big-endian (2), then for each position within the block its 32-bit word (1) and the bit of that (1)
ARGV[6]    staged records, in the same form
ARGV[7]    ids that the newest live layer takes

Reply: 'STALE'   the generations are others than the caller knows; nothing was set
       'LOST'    a live block is not there, or is not of this generation
       { flags, ids of the newest live layer }: a character for each id, '1' when it was not there before; they end before the first
                 id for which there is no room
]]
--- @include "ask"
local known = ask('HMGET', KEYS[1], 'token', 'pending.token')
--- @include "add-head"

local format, byte, lshift, band, bor = string.format, string.byte, bit.lshift, bit.band, bit.bor
local words64 = '<' .. string.rep('I4', 64)

-- Sets the bits of up to `most` ids; their flags, how many were not there, and how many bytes of the records
-- were read.
local function record(layers, records, most, room)
  local count = #layers / 5
  local tags, hashes = {}, {}
  for layer = 1, count do
    tags[layer], hashes[layer] = struct.unpack('<I4', layers, layer * 5 - 4), byte(layers, layer * 5)
  end
  local flags, added, at = {}, 0, 1
  while at <= #records and #flags < most do
    local isThere, words, key, from, places = false, nil, nil, nil, nil
    for layer = 1, count do
      local width = 4 + 2 * hashes[layer]
      if not isThere then
        places = { byte(records, at, at + width - 1) }
        key, from = KEYS[places[1] * 256 + places[2]], (places[3] * 256 + places[4]) * 256
        local block = ask('GETRANGE', key, format('%d', from), format('%d', from + 255))
        if #block ~= 256 then return nil end
        words = { struct.unpack(words64, block) }
        if words[1] ~= tags[layer] then return nil end
        isThere = true
        for i = 5, width, 2 do
          if band(words[places[i] + 1], lshift(1, places[i + 1])) == 0 then
            isThere = false
            break
          end
        end
      end
      at = at + width
    end
    if not isThere then
      if added >= room then return table.concat(flags), added end
      for i = 5, #places, 2 do
        local word = places[i] + 1
        words[word] = bor(words[word], lshift(1, places[i + 1]))
      end
      redis.call('SETRANGE', key, format('%d', from), struct.pack(words64, unpack(words, 1, 64)))
      added = added + 1
    end
    flags[#flags + 1] = isThere and '0' or '1'
  end
  return table.concat(flags), added
end

local flags, ids = nil, 0
if ARGV[1] ~= '' then
  local field = 'layer.' .. format('%d', #ARGV[3] / 5 - 1)
  local before = tonumber(redis.call('HGET', KEYS[1], field) or 0)
  local added
  flags, added = record(ARGV[3], ARGV[5], math.huge, ARGV[7] - before)
  if not flags then return 'LOST' end
  ids = before + added
  if added > 0 then redis.call('HINCRBY', KEYS[1], field, added) end
end
if isStaged then
  local stagingFlags, stagingAdded = record(ARGV[4], ARGV[6], flags and #flags or math.huge, math.huge)
  if not stagingFlags then
    -- A staged block that is gone is not created again, and this staging, which lacks an id now, must not go
    -- live.
    --- @include "forget-staging"
    forgetStaging(KEYS[1])
  elseif stagingAdded > 0 then
    redis.call('HINCRBY', KEYS[1], 'pending.layer:' .. ARGV[2], stagingAdded)
  end
  flags = flags or stagingFlags
end
return { flags or '', format('%d', ids) }
