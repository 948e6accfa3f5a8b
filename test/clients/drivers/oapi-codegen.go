// The flow with oapi-codegen.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"

	"flow/accord"
)

func step(name string) { fmt.Println("step", name) }

func require(isTrue bool, seen any) {
	if !isTrue {
		panic(fmt.Sprintf("%+v", seen))
	}
}

func must[Value any](value Value, err error) Value {
	require(err == nil, err)
	return value
}

func main() {
	ctx := context.Background()
	subject, layout, unknown := os.Getenv("ACCORD_SUBJECT"), "layout.001", "unknown"
	signed := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("ACCORD_TOKEN"))
		return nil
	}
	client := must(accord.NewClientWithResponses(os.Getenv("ACCORD_URL"), accord.WithRequestEditorFn(signed)))

	step("create")
	given := accord.ConsentContext{Subject: subject, Layout: &layout}
	created := must(client.CreateTransactionWithResponse(ctx, given))
	require(created.JSON201 != nil, string(created.Body))
	require(created.JSON201.State == accord.StateCREATED, string(created.Body))
	id := created.JSON201.Id

	step("later")
	// What a later version of an instance may send.
	later := strings.Replace(string(created.Body), "{", `{"laterMember":true,`, 1)
	var next accord.Transaction
	require(json.Unmarshal([]byte(strings.Replace(later, "CREATED", "LATER", 1)), &next) == nil, later)
	require(next.State == "LATER" && !next.State.Valid(), next)

	step("form")
	form := must(client.GetFormWithResponse(ctx, id, nil))
	require(form.JSON200 != nil, string(form.Body))
	answers := accord.Answers{}
	for _, element := range form.JSON200.Elements {
		require(element.Content.Title != nil || element.Content.Label != nil, element)
		answers[element.Identifier] = accord.Answer{(*element.Answers)[0]}
	}

	step("submit")
	submitted := must(client.SubmitAnswersWithResponse(ctx, id, nil, answers))
	require(submitted.JSON200 != nil, string(submitted.Body))
	require(submitted.JSON200.State == accord.StateCOMMITTED, string(submitted.Body))

	step("records")
	records := must(client.ListRecordsWithResponse(ctx, &accord.ListRecordsParams{Subject: subject}))
	require(records.JSON200 != nil, string(records.Body))
	require((*records.JSON200)["processing.001"][0].Subject == subject, string(records.Body))

	step("receipt")
	// Where a response has several JSON types, oapi-codegen compares the whole Content-Type, which has a charset.
	read := must(client.GetReceiptWithResponse(ctx, id, nil))
	var receipt accord.Receipt
	require(json.Unmarshal(read.Body, &receipt) == nil, string(read.Body))
	require(len(receipt.Consents[0].Answer) > 0, string(read.Body))

	step("signed")
	for format, start := range map[string]string{"jose": "eyJ", "pdf": "%PDF-"} {
		read := must(client.GetReceiptWithResponse(ctx, id, &accord.GetReceiptParams{Format: &format}))
		require(strings.HasPrefix(string(read.Body), start), format)
	}

	step("event")
	// The types of what a webhook receives.
	var event accord.ConsentEvent
	require(json.Unmarshal([]byte(os.Getenv("ACCORD_EVENT")), &event) == nil, os.Getenv("ACCORD_EVENT"))
	require(event.Data.State == accord.StateCOMMITTED && event.Data.Version > 0, event)

	step("withdraw")
	withdrawal := must(client.WithdrawConsentsWithResponse(ctx, id, nil, accord.WithdrawalInput{}))
	require(withdrawal.JSON201 != nil, string(withdrawal.Body))
	require(*withdrawal.JSON201.Kind == "WITHDRAWAL", string(withdrawal.Body))

	step("problem")
	refused := must(client.CreateTransactionWithResponse(ctx, accord.ConsentContext{Subject: subject, Layout: &unknown}))
	problem := refused.ApplicationproblemJSON422
	require(problem != nil && (*problem.Errors)[0].Pointer == "/layout" && problem.Code != nil, string(refused.Body))

	step("done")
}
