//! A question in any language leads the way through the graph: also where no blanks part the words.

use async_trait::async_trait;
use ingrain::{
    ExtractRequest, ExtractedRelation, Extraction, Extractor, Fact, HashingEmbedder, MemoryEngine, Result, Scope,
};

/// Takes what is told for a fact, with the relations that stand behind a bar: `text|subject>predicate>object`.
#[derive(Debug)]
struct Told;

#[async_trait]
impl Extractor for Told {
    async fn extract(&self, request: &ExtractRequest<'_>) -> Result<Extraction> {
        let fact = |(number, message): (usize, &ingrain::Message)| {
            let (text, relation) = message.text.split_once('|').unwrap();
            let ends: Vec<&str> = relation.split('>').collect();
            Fact::new(text, number).with_relation(ExtractedRelation::new(ends[0], ends[1], ends[2]))
        };
        Ok(Extraction::of(request.messages.iter().enumerate().map(fact).collect()))
    }
}

#[tokio::test]
async fn the_way_is_found_in_every_tongue() {
    for (told, question, answer) in [
        (
            ["张伟和李娜结婚了|张伟>结婚>李娜", "李娜在腾讯公司上班|李娜>工作于>腾讯公司"],
            "张伟的妻子在哪里工作？",
            "李娜在腾讯公司上班",
        ),
        (
            ["田中さんは花子さんと結婚した|田中>married_to>花子", "花子さんは京都に住む|花子>lives_in>京都"],
            "田中の奥さんの住所は？",
            "花子さんは京都に住む",
        ),
        (
            ["민수는 지은과 결혼했다|민수>married_to>지은", "지은은 부산에 산다|지은>lives_in>부산"],
            "민수의 아내는 어느 도시에 살아?",
            "지은은 부산에 산다",
        ),
        (
            ["Ana se casó con Luis|Ana>casado_con>Luis", "Luis entró en Telefónica|Luis>trabaja_en>Telefónica"],
            "¿En qué empresa está el marido de Ana?",
            "Luis entró en Telefónica",
        ),
        (
            ["Jonas heiratete Lena|Jonas>verheiratet_mit>Lena", "Lena ist bei Siemens|Lena>arbeitet_bei>Siemens"],
            "Welche Firma beschäftigt die Frau von Jonas?",
            "Lena ist bei Siemens",
        ),
        (
            ["Marie a épousé Paul|Marie>mariée_à>Paul", "Paul est à Lyon|Paul>habite_à>Lyon"],
            "Dans quelle ville habite le mari de Marie ?",
            "Paul est à Lyon",
        ),
    ] {
        let memory = MemoryEngine::builder().embedder(HashingEmbedder::new(64)).extractor(Told).build().await.unwrap();
        let user = Scope::user("u");
        for text in told {
            memory.add(&user, text).await.unwrap();
        }
        let hits = memory.search(&user, question).await.unwrap();
        let hit = hits.iter().find(|hit| hit.memory.text == answer && !hit.path.is_empty());
        let told = |hit: &ingrain::Hit| format!("{} by {} steps, {}", hit.memory.text, hit.path.len(), hit.explain());
        let all: Vec<String> = hits.iter().map(told).collect();
        assert!(hit.is_some_and(|hit| hit.path.len() == 2), "{question}: {all:#?}");
    }
}
